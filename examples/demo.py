"""What `make demo` runs: fit a bundled data set, read the rules, check them on rows held out."""

import time

from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from rulegrove import RuleEnsembleClassifier, datasets


def main() -> None:
    """Diabetes among the Pima: 768 patients, 8 attributes."""
    data = datasets.load("pima")
    X = data.frame("pandas")
    y = X.pop("class")
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    print(
        f"{data.name}: {len(X_train)} rows to learn from, {len(X_test)} held out, {X_train.shape[1]} attributes\n",
        flush=True,
    )

    start = time.perf_counter()
    model = RuleEnsembleClassifier(max_terms=12, random_state=0, verbose=1).fit(X_train, y_train)
    seconds = time.perf_counter() - start

    n_candidates = len(model.candidates_[0])
    print(f"\nThe {len(model.rules_)} terms that {n_candidates} candidates came down to, in {seconds:.1f} s:\n")
    print(model.rules_)
    baseline = (y_test != y_train.mode()[0]).mean()
    print(f"\nError on held-out rows: {1 - model.score(X_test, y_test):.1%} (always the larger class: {baseline:.1%})")
    print(f"Log loss on held-out rows: {log_loss(y_test, model.predict_proba(X_test)):.3f}")
    by_attribute = sorted(zip(model.feature_importances_, X_train.columns, strict=True), reverse=True)
    print("What matters: " + ", ".join(f"{name} {share:.0%}" for share, name in by_attribute if share >= 0.05))
    print(
        "\nWhere to go next\n"
        "  README.md          your own table in five lines\n"
        "  docs/guide.md      how it works, which settings matter, when cross-validation is optimistic\n"
        "  make test          the whole suite\n"
        "  make bench         speed beside scikit-learn and imodels"
    )


if __name__ == "__main__":
    main()

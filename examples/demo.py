"""What `make demo` runs: fit a bundled data set, read the list of rules, check it on rows held out beside a forest."""

import time

from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from rulegrove import RuleEnsembleClassifier, datasets


def main() -> None:
    """Tumours of the breast: 699 patients, 9 marks of their cells from 1 to 10."""
    data = datasets.load("breast-w")
    X = data.frame("pandas")
    y = X.pop("class")
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    print(
        f"{data.name}: {len(X_train)} rows to learn from, {len(X_test)} held out, {X_train.shape[1]} attributes\n",
        flush=True,
    )

    start = time.perf_counter()
    model = RuleEnsembleClassifier(terms="rules", random_state=0, verbose=1).fit(X_train, y_train)
    seconds = time.perf_counter() - start

    n_candidates = len(model.candidates_[0])
    print(f"\nThe {len(model.rules_)} rules that {n_candidates} candidates came down to, in {seconds:.1f} s:\n")
    print(model.rules_)
    forest = RandomForestClassifier(500, random_state=0).fit(X_train, y_train)
    shorter, large = model.shorten(max_terms=4), model.shorten(max_terms=None)  # from the same fit, in milliseconds
    with_lines = RuleEnsembleClassifier(random_state=0).fit(X_train, y_train)
    print(f"\n{'On held-out rows':36}  error  log loss")
    for name, one in (
        (f"this list of {len(model.rules_)} rules", model),
        (f"shorten(max_terms=4): {len(shorter.rules_)} rules", shorter),
        (f"shorten(max_terms=None): {len(large.rules_)} rules", large),
        (f"by default: {len(with_lines.rules_)} rules and lines", with_lines),
        ("a forest of 500 trees", forest),
    ):
        loss = log_loss(y_test, one.predict_proba(X_test))
        print(f"  {name:34} {1 - one.score(X_test, y_test):6.1%}  {loss:8.3f}")
    print(f"  {'always the larger class':34} {(y_test != y_train.mode()[0]).mean():6.1%}\n")
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

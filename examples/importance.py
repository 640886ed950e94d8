"""Which attributes matter: importance read off the rules beside scikit-learn's permutation importance.

Diabetes among the Pima: half of the patients to learn from, half held out. The rules tell importance at no cost; the
permutation importance needs every attribute shuffled and the held-out patients scored again and again.
"""

import time

import numpy as np
from scipy.stats import spearmanr
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split

from rulegrove import RuleEnsembleClassifier, datasets
from rulegrove.inspection import importances


def main() -> None:
    """Print both importances, and the rules' own for one group of patients."""
    X = datasets.load("pima").frame("pandas")
    y = X.pop("class")
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    model = RuleEnsembleClassifier(random_state=0).fit(X_train, y_train)

    start = time.perf_counter()
    own = importances(model, X_test).attributes
    own_seconds = time.perf_counter() - start
    young = importances(model, X_test, region=(X_test["age"] < 30).to_numpy()).attributes
    start = time.perf_counter()
    shuffled = permutation_importance(
        model, X_test, y_test, scoring="neg_log_loss", n_repeats=15, random_state=0
    ).importances_mean
    seconds = time.perf_counter() - start

    print(f"{len(model.rules_)} terms, error on held-out patients {1 - model.score(X_test, y_test):.1%}\n")
    print(f"{'attribute':<28} {'rules':>8} {'permutation':>12} {'rules, age < 30':>16}   (largest = 100)")
    columns = [100 * values / values.max() for values in (own, shuffled, young)]
    for place in np.argsort(-own):
        first, second, third = (column[place] for column in columns)
        print(f"{X.columns[place]:<28} {first:>8.0f} {second:>12.0f} {third:>16.0f}")
    print(f"\nRank correlation of rules and permutation: {spearmanr(own, shuffled).statistic:.2f}")
    print(f"Seconds: {own_seconds:.4f} from the rules, {seconds:.2f} by permutation")


if __name__ == "__main__":
    main()

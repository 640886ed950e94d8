"""What rows that the fit has not seen say about each rule: estimates with intervals, and tests."""

from typing import Any

from rulegrove.columns import as_table, count_rows
from rulegrove.estimators._judging_rules import Asking, examine
from rulegrove.estimators._observed import read_observed
from rulegrove.estimators.evidence import RuleEvidence
from rulegrove.inspection._sample import check_model


def rule_evidence(
    model: Any,
    X: Any,
    y: Any,
    *,
    level: float = 0.95,
    false_discovery_rate: float = 0.1,
    sample_weight: Any = None,
    exposure: Any = None,
    offset: Any = None,
) -> RuleEvidence:
    """Check each rule on rows that the fit has not seen.

    A rule was chosen because it looked good on the training rows, so its confidence there is too high. On other rows it
    is an honest estimate, its interval tells how sure it is, and a test tells how easily chance would do as well. Rules
    that the tests establish are told from mere suggestions.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        Fitted.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows that were not used in the fit.
    y : array-like of shape (n_samples,)
        Their targets.
    level : float, default=0.95
        Level of every interval by itself, and of all the wider ones (``low_all`` to ``high_all``) together.
    false_discovery_rate : float, default=0.1
        Expected share of false claims among those that are called established, at most.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.
    exposure, offset : array-like of shape (n_samples,), optional
        As in `fit`: then rules are tested on rates, by weights that make their loss that of the totals.

    Returns
    -------
    RuleEvidence

    See Also
    --------
    rulegrove.engines.rule_evidence : The same for a table in parts.

    Notes
    -----
    Shares have Wilson's interval. The lift is ``ratio / (support * ratio + 1 - support)``, where ``ratio`` compares the
    class share where the rule holds with that where it does not, two independent samples; its interval comes from
    theirs by the method of variance estimates recovery. A mean target has Student's interval. Intervals for all rules
    at once are of level ``1 - (1 - level) / n_rules``, those of shares by Clopper and Pearson. Weighted rows count as
    ``(sum w)^2 / sum w^2`` rows.

    The marginal null is the base rate on the rule's rows. Of classes on rows of one weight it has Fisher's exact test.
    Otherwise the sum of what targets of the rule's rows exceed the mean of all rows by is compared with its standard
    deviation under permutation of the targets, or allowing for different variances, whichever is larger, by the normal
    or a skewed distribution, whichever says more.

    The conditional null is a zero coefficient of the rule in the best model of all terms of the list in the population.
    Its score test needs the list to be right in nothing. Each test has one side: a rule has told its direction before
    these rows were looked at. Of more than two classes, each rule is about its own against all others.

    Rates and amounts are numbers here: means and differences of them are told, not factors. Rules about quantiles and
    survival times are not tested, nor are those about several numbers.

    P-values are adjusted by Benjamini and Yekutieli, which holds for rules that overlap in any way.

    References
    ----------
    Wilson (1927). "Probable inference, the law of succession, and statistical inference". JASA 22.
    Newcombe (2016). "MOVER-R confidence intervals for ratios and products of two independently estimated quantities".
    Statistical Methods in Medical Research 25(5).
    Boos (1992). "On generalized score tests". The American Statistician 46(4).
    Benjamini, Yekutieli (2001). "The control of the false discovery rate in multiple testing under dependency". Annals
    of Statistics 29(4).

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> from rulegrove.inspection import rule_evidence
    >>> X, y = load("pima")
    >>> model = RuleEnsembleClassifier(n_candidates=100, max_terms=5, terms="rules", random_state=0)
    >>> model = model.fit(X[::2], y[::2])
    >>> evidence = rule_evidence(model, X[1::2], y[1::2])
    >>> evidence.n_rows
    384
    >>> bool((evidence.lift.low_all <= evidence.lift.low).all())
    True
    >>> for sentence in evidence.sentences[:3]:
    ...     print(sentence)
    Established on 384 rows that did not choose them: rules 1, 2, 3, 4, 5 (false discovery rate 10 %).
    Beyond what the other terms of the list say: rules 1, 2, 4 (false discovery rate 10 %).
    Suggestions only: none.
    """
    asking, target = Asking(level, false_discovery_rate), check_model(model, "An inspection").recall_target()
    target.check_evidence()
    observed = read_observed(target, y, count_rows(as_table(X)), sample_weight, exposure, offset)
    return examine(model, X, observed.y, observed.weights, asking)

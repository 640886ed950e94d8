"""Rules counted on rows that did not choose them, in a table of parts: one pass, and what it says."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from rulegrove._progress import Progress
from rulegrove._validation import find_codes
from rulegrove.columns import Columns, encode_columns
from rulegrove.engines.base import BATCH_ROWS, Engine
from rulegrove.engines.beside import Named
from rulegrove.engines.local import LocalEngine, choose_threads
from rulegrove.engines.reading import Labelled, Layout, LayoutTask, take_attributes
from rulegrove.engines.scoring import lay_out
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators._evidence_counts import EvidenceCounter, EvidenceCounts
from rulegrove.estimators._judging_rules import Asking, judge_rules
from rulegrove.estimators.evidence import RuleEvidence
from rulegrove.estimators.model import RuleModel
from rulegrove.estimators.rule_table import RuleTable
from rulegrove.exceptions import InvalidInputError


@dataclass(frozen=True)
class EvidenceTask(LayoutTask[EvidenceCounts]):
    """Count the rules of a list; the attributes of the layout are those that its terms speak of."""

    counter: EvidenceCounter

    def nothing(self) -> EvidenceCounts:
        """Return the counts of no rows."""
        return self.counter.empty()

    def look(self, rows: Labelled) -> EvidenceCounts:
        """Return the counts of some rows."""
        model, y = self.counter.model, rows.y
        if model.labels:
            y = find_codes(list(model.labels), y, len(y))
        return self.counter(_read_attributes(model, rows.rows), y, rows.weights, rows.positions)


def _read_attributes(model: RuleModel, rows: pa.RecordBatch) -> Columns:
    """Return the attributes that the terms of a model speak of."""
    if not model.terms:
        return Columns(model.features, [np.full(rows.num_rows, np.nan)] * len(model.features))
    table = pa.Table.from_batches([take_attributes(rows, model.used_names)])
    return encode_columns(table, model.features, model.used_names)


def rule_evidence(
    model: BaseRuleEnsemble,
    source: Any,
    target: str,
    *,
    weights: str | None = None,
    exposure: str | None = None,
    offset: str | None = None,
    level: float = 0.95,
    false_discovery_rate: float = 0.1,
    batch_rows: int = BATCH_ROWS,
    n_threads: int | None = None,
) -> RuleEvidence:
    """Check each rule on a table that need not fit into memory, of rows that the fit has not seen; one pass.

    Of a list with linear terms 65,536 rows, drawn by their positions, enter the tests given the other terms; all rows
    enter everything else, and all of it where the list has rules alone.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        A fitted model. Only the columns that its terms speak of are read.
    source : str, path, sequence of these, or table
        As in `rulegrove.engines.fit`.
    target : str
        Name of the column that was to be predicted; rows without it are left out.
    weights : str, optional
        Name of the column of weights.
    exposure, offset : str, optional
        Names of columns as in `rulegrove.engines.fit`: then rules are tested on rates.
    level, false_discovery_rate
        As in `rulegrove.inspection.rule_evidence`.
    batch_rows : int
        Most rows that each thread has in memory at once.
    n_threads : int, optional
        Threads; those of the model's `n_jobs` by default.

    Returns
    -------
    RuleEvidence

    See Also
    --------
    rulegrove.inspection.rule_evidence : The same in memory, with what the tests are.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from rulegrove import RuleEnsembleClassifier, engines
    >>> from rulegrove.datasets import load
    >>> table = pa.Table.from_pandas(load("pima").frame())
    >>> model = RuleEnsembleClassifier(n_candidates=100, terms="rules", max_terms=5, random_state=0)
    >>> model = engines.fit(model, table[:400], "class")
    >>> evidence = engines.rule_evidence(model, table[400:], "class")
    >>> evidence.n_rows, bool(evidence.established.any())
    (368, True)
    """
    engine = LocalEngine(source, batch_rows=batch_rows, n_threads=choose_threads(model, n_threads))
    asking = Asking(level, false_discovery_rate)
    return examine_over(engine, model, target, asking=asking, weights=weights, exposure=exposure, offset=offset)


def examine_over(
    engine: Engine, model: BaseRuleEnsemble, target: str | Sequence[str], *, asking: Asking, **beside: str | None
) -> RuleEvidence:
    """Check the rules of a fitted estimator on the table of an engine; as `rule_evidence`."""
    model.recall_target().check_evidence()
    layout = lay_out(engine, model, target, Named(**beside))
    return examine_part(engine, model.model_, model.rules_, layout, asking, model.verbose)


def examine_part(
    engine: Engine, model: RuleModel, rules: RuleTable, layout: Layout, asking: Asking, verbose: int
) -> RuleEvidence:
    """Count and judge the rules of a model on the rows of a layout."""
    counter = EvidenceCounter.of(model, engine.n_rows, *_find_unit(rules))
    progress = Progress(verbose)
    counts = engine.map_reduce(EvidenceTask(layout, counter), progress.stage("Counting evidence"))
    progress.close()
    if not counts.n_rows:
        raise InvalidInputError(
            f"No row has a target '{layout.target}' and a positive weight; there is nothing to count."
        )
    return judge_rules(counter, rules, counts, asking)


def _find_unit(rules: RuleTable) -> tuple[float, float]:
    """Return a center and a scale of the target, from what the training rows said of the rules."""
    means = [rule.mean_target for rule in rules if rule.mean_target is not None]
    if not means:
        return 0.0, 1.0
    center = float(np.mean(means))
    return center, float(np.abs(np.array(means) - center).max()) or 1.0

"""Short lists: for every length the terms of a large model, and coefficients, that come nearest to what it says."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rulegrove._threads import one_blas_thread, run_tasks
from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.columns import Columns
from rulegrove.design.bits import BitMatrix, RuleProgram, compile_rules
from rulegrove.design.linear import LinearTerms, join_linear
from rulegrove.design.patterns import PatternTable
from rulegrove.design.statistics import collect_statistics, evaluate_terms
from rulegrove.design.terms import Linear, Term, Terms
from rulegrove.estimators._constraints import Constraints
from rulegrove.estimators._design import as_problems
from rulegrove.estimators._training import TrainingData
from rulegrove.estimators.front import LONGEST
from rulegrove.estimators.steady import find_alike, price_terms
from rulegrove.projection import Listed, Point, Projection, project
from rulegrove.rules.rule import Rule
from rulegrove.subset import Reference, order_terms

EVERY_LENGTH = 30  # lists have every length up to this,
GROWTH = 1.15  # then each is so many times as long as the one before,
EXCHANGED = 0.2  # chance that a column of an imagined row has the value of another row
RIDGE_OF_LINES = 0.01  # of the usual one: slopes are few, and may have to be steep


@dataclass(frozen=True, eq=False)
class Large:
    """A large model: the candidates of each output, and its coefficients for them.

    Attributes
    ----------
    terms : tuple of Terms
    points : tuple of (ndarray of shape (n_terms,), float)
    origins : tuple of tuple of (int, int), optional
        For each output where each column comes from, where the model is the average of several: which of them has it,
        and its column there.
    listed : tuple of ndarray of shape (n_terms,), bool, optional
        Columns of each output that lists are made of; by default those that the large model uses.
    """

    terms: tuple[Terms, ...]
    points: tuple[Point, ...]
    origins: tuple[tuple[tuple[int, int], ...], ...] | None = None
    listed: tuple[BoolArray, ...] | None = None

    @classmethod
    def average(cls, runs: Sequence["Large"]) -> "Large":
        """Return the average of large models of the same outputs: a model of all their terms."""
        if len(runs) == 1:
            return runs[0]
        outputs = range(len(runs[0].terms))
        merged = [_average([(run.terms[output], run.points[output]) for run in runs]) for output in outputs]
        terms, points, origins = zip(*merged, strict=True)
        return cls(terms, points, origins)

    def offer(self, rules: Sequence[Sequence[Rule]], run: int) -> "Large":
        """Return the same model with rules that lists are made of, beside the linear terms that it uses.

        Parameters
        ----------
        rules : sequence of sequence of Rule
            Of each output.
        run : int
            Where columns of new rules come from; their places there are those among all rules, each taken once.
        """
        places = {rule: place for place, rule in enumerate(dict.fromkeys(rule for own in rules for rule in own))}
        merged = []
        for output, (terms, (coef, intercept)) in enumerate(zip(self.terms, self.points, strict=True)):
            known, offered, n_rules = set(terms.rules), set(rules[output]), len(terms.rules)
            new = tuple(rule for rule in rules[output] if rule not in known)
            listed = [rule in offered for rule in terms.rules] + [True] * len(new) + (coef[n_rules:] != 0.0).tolist()
            origins = [self.trace(output, column) for column in range(len(terms))]
            merged.append(
                (
                    Terms(terms.rules + new, terms.linear, terms.aliases + ((),) * len(new)),
                    (np.concatenate([coef[:n_rules], np.zeros(len(new)), coef[n_rules:]]), intercept),
                    (*origins[:n_rules], *((run, places[rule]) for rule in new), *origins[n_rules:]),
                    np.array(listed),
                )
            )
        terms, points, origins, listed = zip(*merged, strict=True)
        return Large(terms, points, origins, listed)

    def find_listed(self, output: int) -> BoolArray:
        """Return the columns of an output that lists are made of."""
        return self.points[output][0] != 0.0 if self.listed is None else self.listed[output]

    def trace(self, output: int, column: int) -> tuple[int, int]:
        """Return which run a column comes from, and its place there."""
        return (0, column) if self.origins is None else self.origins[output][column]

    @property
    def used_features(self) -> IntArray:
        """Attributes of its terms and of those that lists are made of, ascending."""
        used = {
            feature
            for output, (terms, (coef, _)) in enumerate(zip(self.terms, self.points, strict=True))
            for column in np.flatnonzero((coef != 0.0) | self.find_listed(output)).tolist()
            for feature in terms[column].features
        }
        return np.array(sorted(used), dtype=np.int64)

    @property
    def n_terms(self) -> int:
        """Most terms of an output."""
        return max(int(np.count_nonzero(coef)) for coef, _ in self.points)

    @property
    def n_listed(self) -> int:
        """Most terms that lists of an output are made of."""
        return max(int(np.count_nonzero(self.find_listed(output))) for output in range(len(self.terms)))


def _average(parts: Sequence[tuple[Terms, Point]]) -> tuple[Terms, Point, tuple[tuple[int, int], ...]]:
    """Return the candidates that any of several models uses, their mean coefficients, and where they come from."""
    coefs: dict[Term, float] = {}
    origins: dict[Term, tuple[int, int]] = {}
    for run, (terms, (coef, _)) in enumerate(parts):
        for column in np.flatnonzero(coef).tolist():
            term = terms[column]
            origins.setdefault(term, (run, column))
            coefs[term] = coefs.get(term, 0.0) + float(coef[column]) / len(parts)
    rules: list[Term] = [term for term in origins if isinstance(term, Rule)]
    lines: list[Term] = sorted(term for term in origins if isinstance(term, Linear))
    taken = [parts[run][0].take(np.array([column])) for run, column in (origins[term] for term in (*rules, *lines))]
    whole = Terms(
        tuple(rule for one in taken for rule in one.rules),
        join_linear([one.linear for one in taken]),
        tuple(aliases for one in taken for aliases in one.aliases),
    )
    intercept = float(np.mean([own for _, (_, own) in parts]))
    ordered = (*rules, *lines)
    return whole, (np.array([coefs[term] for term in ordered]), intercept), tuple(origins[term] for term in ordered)


def list_lengths(n_terms: int, n_forced: int, *, whole: bool = False) -> list[int]:
    """Return the lengths of lists for a model of so many terms, all shorter than it.

    Where lists are solved for in a way of their own, a list may have all terms as well: `whole`.

    Examples
    --------
    >>> list_lengths(50, 0)[-5:]
    [29, 30, 34, 39, 45]
    >>> list_lengths(3, 2, whole=True)
    [2, 3]
    """
    lengths = list(range(EVERY_LENGTH + 1))
    while lengths[-1] < LONGEST:
        lengths.append(round(lengths[-1] * GROWTH))
    shorter = [length for length in lengths if n_forced <= length < n_terms]
    return [*shorter, n_terms] if whole and max(n_forced, 1) <= n_terms <= LONGEST else shorter


@dataclass(frozen=True, eq=False)
class Sheet:
    """Rows to make lists from, with the attributes that the large model uses.

    Attributes
    ----------
    columns : Columns
        Attributes that are not used have no values.
    weights : ndarray of shape (n_rows,), optional
    n_real : int
        Rows that are not imagined, the first ones.
    """

    columns: Columns
    weights: FloatArray | None
    n_real: int

    @classmethod
    def of(cls, data: TrainingData, rows: IntArray, large: Large, n_imagined: int) -> "Sheet":
        """Return some rows, and imagined ones beside them where there are fewer than so many.

        The large model can be asked about any row. An imagined row is a real one in which each column has, with a small
        chance, the value of another row; a list that has to follow the model there as well overfits less.
        """
        used = large.used_features
        block, weights = data.columns.take(rows, used), data.weights_of(rows)
        n_copies = max(n_imagined // max(rows.size, 1), 1)
        rng = np.random.default_rng(0)
        places: dict[str, int] = {}  # names must not decide which column is exchanged where
        sources = [places.setdefault(data.columns.features[feature].source, len(places)) for feature in used.tolist()]
        blocks = [block]
        for _ in range(n_copies - 1):
            exchanged = rng.random((len(places), rows.size))[sources] < EXCHANGED
            blocks.append(np.where(exchanged, block[:, rng.permutation(rows.size)], block))
        nothing = np.zeros(n_copies * rows.size)
        arrays = dict(zip(used.tolist(), np.hstack(blocks), strict=True))
        values = [arrays.get(feature, nothing) for feature in range(data.columns.n_features)]
        columns = Columns(data.columns.features, values, nothing.size)
        return cls(columns, None if weights is None else np.tile(weights, n_copies), rows.size)

    @property
    def rows(self) -> IntArray:
        """Positions of the rows."""
        return np.arange(self.columns.n_rows)

    def weigh(self, most_rows: int | None) -> FloatArray:
        """Return the weights of the first rows, which add up to one."""
        weights = (np.ones(self.columns.n_rows) if self.weights is None else self.weights)[:most_rows]
        return np.asarray(weights / weights.sum())


@dataclass(frozen=True)
class Maker:
    """What makes lists of a large model.

    Attributes
    ----------
    projection : Projection
    constraints : Constraints
    joint : bool
        Whether a term enters for all outputs or for none; they then share their candidates.
    steadiness : float
        Price of conditions, as in `price_terms`.
    n_threads : int
    """

    projection: Projection
    constraints: Constraints
    joint: bool
    steadiness: float
    n_threads: int

    def remake(
        self,
        sheet: Sheet,
        goals: FloatArray,
        large: Large,
        longest: int,
        chosen: tuple[int, bool] | None = None,
        *,
        both: bool,
    ) -> tuple[list[list[list[Term]]], list[Point] | None]:
        """Return the orders in which terms enter lists, and a list.

        Parameters
        ----------
        sheet, goals, large
            As in `make`.
        longest : int
        chosen : (int, bool), optional
            Length of the list, and whether it begins with linear terms; None for no list.
        both : bool
            Whether the order with linear terms first is asked for as well.

        Returns
        -------
        orders : list of list of list of Term
            For each order, the one with linear terms first behind the other, and each output, up to the longest list.
        points : list of (ndarray of shape (n_terms,), float), optional
            For each output the list.
        """
        with one_blas_thread():
            found = self._find(sheet, goals, large, [[longest], [longest] if both else []])
            terms_of = zip(large.terms, found, strict=True)
            entered = [
                [[terms[int(own.kept[place])] for place in order] for order in own.orders] for terms, own in terms_of
            ]
            orders = [list(of_outputs) for of_outputs in zip(*entered, strict=True)]
            if chosen is None:
                return orders, None
            length, first = chosen
            cut = [replace(own, subsets=[np.sort(own.orders[first and both][:length])]) for own in found]
            weights = sheet.weigh(self.projection.most_rows)
            points = _project(self.projection, cut, 0, goals[: len(weights)], weights)
            near = [own.near(0, point) for own, point in zip(cut, points, strict=True)]
            return orders, [own.widen(intercept) for own, (_, intercept) in zip(near, points, strict=True)]

    def make(
        self, sheet: Sheet, goals: FloatArray, large: Large, lengths: Sequence[int], n_lines_first: int = 0
    ) -> list[list[Point]]:
        """Return a list of each length: one point for each output, all but a few of its coefficients zero.

        Parameters
        ----------
        sheet : Sheet
            Coefficients that cannot do without rows are solved for on the first ones.
        goals : ndarray of shape (n_rows, n_outputs)
            What the large model says of the rows.
        large : Large
        lengths : sequence of int
            Most terms of an output, rising.
        n_lines_first : int
            Of how many lengths, the shortest ones, there is another list behind these, in which linear terms enter
            before rules. A rule says more of a class than any single line and so would always be the first, even where
            a few lines say more than as many rules.
        """
        weights = sheet.weigh(self.projection.most_rows)
        solved = slice(0, len(weights))
        with one_blas_thread():
            found = self._find(sheet, goals, large, [lengths, lengths[:n_lines_first]])

            def follow(places: range) -> list[list[Point]]:
                lists, near = [], found
                for place in places:
                    points = _project(self.projection, near, place, goals[solved], weights)
                    near = [own.near(place, point) for own, point in zip(found, points, strict=True)]
                    lists.append([own.widen(intercept) for own, (_, intercept) in zip(near, points, strict=True)])
                return lists

            n_lists = len(lengths) + n_lines_first
            of_orders = run_tasks(follow, [range(len(lengths)), range(len(lengths), n_lists)], self.n_threads)
            return [points for lists in of_orders for points in lists]

    def _find(self, sheet: Sheet, goals: FloatArray, large: Large, orders: Sequence[Sequence[int]]) -> list["_Found"]:
        """Find the terms of the lists of each output: of some lengths, and of some with lines first."""
        outputs = range(len(large.points))
        parts = [list(outputs)] if self.joint else [[output] for output in outputs]

        def find(part: Sequence[int]) -> list[_Found]:
            n_own = self.n_threads if len(parts) == 1 else 1
            return self._find_together(sheet, goals[:, part], large, part, orders, n_own)

        return [one for part in run_tasks(find, parts, self.n_threads) for one in part]

    def _find_together(
        self,
        sheet: Sheet,
        goals: FloatArray,
        large: Large,
        outputs: Sequence[int],
        orders: Sequence[Sequence[int]],
        n_threads: int,
    ) -> list["_Found"]:
        """Find the terms of lists of outputs that are chosen together: of some lengths, some with lines first."""
        terms = large.terms[outputs[0]]
        spared = self.constraints.unpenalised(terms)
        used = np.any([large.find_listed(output) for output in outputs], axis=0)
        kept = np.flatnonzero(used if spared is None else used | spared)
        taken = terms.take(kept)
        program = compile_rules(taken.rules, sheet.columns.n_features)
        solved = sheet.rows[: self.projection.most_rows]
        bits, linear = evaluate_terms(sheet.columns, solved, program, taken.linear, n_threads)
        responses, weights = self.projection.linearise(goals, sheet.weights)
        statistics = collect_statistics(
            sheet.columns, program, taken.linear, responses, weights=weights, n_threads=n_threads
        )
        problems = as_problems(statistics.moments())
        pulls = np.array([problem.x_y for problem in problems])
        forced = np.zeros(len(kept), dtype=bool) if spared is None else spared[kept]
        lines = np.arange(len(kept)) >= len(taken.rules)
        ridges = np.where(forced, 0.0, np.where(lines, RIDGE_OF_LINES, 1.0))
        signs, gram = self.constraints.signs(taken), problems[0].gram
        alike = np.zeros(gram.shape, dtype=bool)
        alike[: len(taken.rules), : len(taken.rules)] = find_alike(bits.first(sheet.n_real))
        prices = price_terms(taken.count_conditions(), self.steadiness)
        subsets: list[IntArray] = []
        entered: list[IntArray] = []
        for first, lengths in zip((None, lines), orders, strict=True):
            if lengths:
                reference = Reference(gram, pulls, signs, forced, ridges, first, prices, alike)
                entered.append(order_terms(reference, max(lengths)))
                subsets += [np.sort(entered[-1][: max(length, int(forced.sum()))]) for length in lengths]
        means, spreads = _describe(bits, linear, None if sheet.weights is None else sheet.weights[solved])
        slopes = np.pad(linear.T, ((0, 0), (0, -len(linear) % 64)))
        start = np.zeros(len(kept))
        listed = [Listed(bits.words, slopes, means, spreads, gram, own, ridges, start, None, signs) for own in pulls]
        return [_Found(kept, own, subsets, entered, len(terms)) for own in listed]


def _project(
    projection: Projection,
    found: Sequence["_Found"],
    place: int,
    goals: FloatArray,
    weights: FloatArray,
) -> list[Point]:
    """Return the coefficients of a list."""
    listed = [own.listed.take(own.subsets[place]) for own in found]
    if len(listed) == 1 and len(listed[0].rules) and not len(listed[0].lines):
        # Rows of one pattern have one score, so that the mean of their goals stands for them.
        table = PatternTable.count(BitMatrix(listed[0].rules, len(goals)), numbers=goals, weights=weights)
        if table.pays:
            patterns = [replace(listed[0], rules=table.bits.words, lines=np.empty((0, 64 * table.bits.words.shape[1])))]
            return project(projection, patterns, *_fill_words(table.sums / table.weights[:, None], table.weights))
    return project(projection, listed, *_fill_words(goals, weights))


def _fill_words(goals: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return goals, by outputs, and weights of rows that fill whole words; those beyond the last one have no weight."""
    missing = -len(weights) % 64
    return np.pad(goals.T, ((0, 0), (0, missing)), mode="edge"), np.pad(weights, (0, missing))


@dataclass(frozen=True, eq=False)
class _Found:
    """The terms of an output's lists: those that lists are made of, which of them each list has, orders of entry."""

    kept: IntArray
    listed: Listed
    subsets: list[IntArray]
    orders: list[IntArray]
    n_terms: int

    def near(self, place: int, point: Point) -> "_Found":
        """Return the same with the coefficients of a list as those to begin the next one with."""
        (coef, intercept), wide = point, np.zeros(len(self.kept))
        wide[self.subsets[place]] = coef
        level = float(intercept + self.listed.means @ wide)
        return replace(self, listed=replace(self.listed, start=wide, level=level))

    def widen(self, intercept: float) -> Point:
        """Return the coefficients to begin the next list with as those of all candidates."""
        wide = np.zeros(self.n_terms)
        wide[self.kept] = self.listed.start
        return wide, intercept


def _describe(bits: BitMatrix, linear: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Return the weighted mean and the variance of rules and linear terms."""
    shares = np.ones(len(linear)) if weights is None else weights
    shares = shares / shares.sum()
    held = bits.sums(np.pad(shares, (0, bits.n_rows - len(shares)))[:, None])[:, 0]
    means = shares @ linear
    spreads = shares @ (linear - means) ** 2
    return np.concatenate([held, means]), np.concatenate([held * (1.0 - held), spreads])


@dataclass(frozen=True, eq=False)
class _OutputScorer:
    """What scores rows for one output: all terms that are used, those of them that lists use, and coefficients."""

    program: RuleProgram
    linear: LinearTerms
    listed: IntArray
    coefs: FloatArray
    intercepts: FloatArray
    large: Point | None

    def score(self, columns: Columns, rows: IntArray, n_threads: int) -> FloatArray:
        """Return the scores of rows, an ndarray of shape (n_lines, n_rows)."""
        bits, linear = evaluate_terms(columns, rows, self.program, self.linear, n_threads)
        linear, n_rules = linear[: rows.size], self.program.n_rules
        n_listed = int(np.searchsorted(self.listed, n_rules))
        held = BitMatrix(bits.words[self.listed[:n_listed]], bits.n_rows).to_dense()[: rows.size]
        values = np.hstack([held, linear[:, self.listed[n_listed:] - n_rules]])
        scores = self.coefs @ values.T + self.intercepts[:, None]
        if self.large is None:
            return np.asarray(scores)
        coef, intercept = self.large  # of many rules, which are cheaper to add up where they hold
        return np.vstack([scores, bits.dot(coef[:n_rules])[: rows.size] + linear @ coef[n_rules:] + intercept])


@dataclass(frozen=True, eq=False)
class Scorer:
    """What scores rows by many lists of a large model at once, and by the model itself if asked to.

    Attributes
    ----------
    outputs : tuple of _OutputScorer
    """

    outputs: tuple[_OutputScorer, ...]

    @classmethod
    def of(
        cls, large: Large, lists: Sequence[Sequence[Point]], n_features: int, *, with_large: bool = False
    ) -> "Scorer":
        """Return the scorer of some lists and, `with_large`, of the large model after them.

        Parameters
        ----------
        large : Large
        lists : sequence of sequence of (ndarray of shape (n_terms,), float)
        n_features : int
            Attributes of the tables to come.
        with_large : bool
        """
        outputs = []
        for output, (all_terms, (coef, intercept)) in enumerate(zip(large.terms, large.points, strict=True)):
            coefs = np.array([points[output][0] for points in lists]).reshape(len(lists), len(all_terms))
            listed: BoolArray = np.asarray(coefs.any(axis=0))
            used = np.flatnonzero(listed | (coef != 0.0) if with_large else listed)
            terms = all_terms.take(used)
            outputs.append(
                _OutputScorer(
                    compile_rules(terms.rules, n_features),
                    terms.linear,
                    np.flatnonzero(listed[used]),
                    coefs[:, listed],
                    np.array([points[output][1] for points in lists], dtype=np.float64),
                    (coef[used], intercept) if with_large else None,
                )
            )
        return cls(tuple(outputs))

    def score(self, columns: Columns, rows: IntArray, n_threads: int = 1) -> FloatArray:
        """Return the scores of rows by every list, an ndarray of shape (n_lines, n_rows, n_outputs)."""
        return np.stack([output.score(columns, rows, n_threads) for output in self.outputs], axis=2)


def score_lists(
    columns: Columns, rows: IntArray, large: Large, lists: Sequence[Sequence[Point]], n_threads: int
) -> FloatArray:
    """Return the scores of rows by every list, an ndarray of shape (n_lists, n_rows, n_outputs)."""
    return Scorer.of(large, lists, columns.n_features).score(columns, rows, n_threads)


@dataclass(frozen=True, eq=False)
class MadeLists:
    """Lists of a large model, and rows that it was fitted to.

    Attributes
    ----------
    data : TrainingData
    rows : ndarray of shape (n_drawn,)
        Positions of some of these rows.
    large : Large
    lists : list of list of (ndarray of shape (n_terms,), float)
        Of each list the coefficients and the intercept of each output.
    constraints : Constraints
    n_threads : int
    """

    data: TrainingData
    rows: IntArray
    large: Large
    lists: list[list[Point]]
    constraints: Constraints
    n_threads: int

    @property
    def targets(self) -> FloatArray:
        """Of the rows, as the fit has them."""
        return self.data.targets[self.rows]

    @property
    def weights(self) -> FloatArray | None:
        """Of the rows."""
        return self.data.weights_of(self.rows)

    def score(self) -> FloatArray:
        """Return the scores of the rows by every list, an ndarray of shape (n_lists, n_rows, n_outputs)."""
        return score_lists(self.data.columns, self.rows, self.large, self.lists, self.n_threads)

    def evaluate(self, output: int) -> tuple[IntArray, FloatArray]:
        """Return the columns of an output that any list has, and their values, of shape (n_rows, n_columns)."""
        terms = self.large.terms[output]
        used = np.flatnonzero(np.any([points[output][0] != 0.0 for points in self.lists], axis=0))
        taken = terms.take(used)
        program = compile_rules(taken.rules, self.data.columns.n_features)
        bits, linear = evaluate_terms(self.data.columns, self.rows, program, taken.linear, self.n_threads)
        return used, np.hstack([bits.to_dense()[: self.rows.size], linear[: self.rows.size]])


def score_large(sheet: Sheet, large: Large) -> FloatArray:
    """Return the scores of rows by the large model, an ndarray of shape (n_rows, n_outputs)."""
    scores: FloatArray = Scorer.of(large, [], sheet.columns.n_features, with_large=True).score(
        sheet.columns, sheet.rows
    )[0]
    return scores

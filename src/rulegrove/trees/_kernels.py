"""Compiled loops of binning, growing and walking trees.

A *cell* is one bin of one feature in a histogram: the numbers ``[rows, weight, weighted target of each output]``,
side by side. The cells of a feature follow each other, that of its missing values after its last bin. Histograms are
flat, and a cell is known by the place of its first number.

A node sums its rows of ``Sample.work``: their number of columns says whether curvatures are among them.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rulegrove._kernel_cache import njit
from rulegrove._typing import BoolArray, ByteArray, FloatArray, Int32Array, IntArray, Words

Integer = int | np.int64

MISSING = 255
"""Code of a missing value among the bins, which are numbered 0..254."""

NEITHER, LEFT, RIGHT, HEAVIER = 0, 1, 2, 3
"""Sides of a split; HEAVIER stands, until the node is split, for the child that will weigh more."""

BLOCK_ROWS = 4096

TINY = 1e-300
"""Stands for a weight of zero in a denominator."""

FLAT = 1e-3
"""Mean curvature of a node at or below which the loss counts as flat there."""

TREES, NODES, FAILED, LEAVES = 0, 1, 2, 3
"""Places in a tally: trees and nodes of the forest, draws in a row that gave no tree, most leaves of the next one."""

NO_GROUPS = np.empty((0, 0), dtype=np.bool_)

ONE, TWO = np.uint64(1), np.uint64(2)
"""Steps of unsigned places: those need no check for counting from the end, which doubles the speed of short loops."""


class TreeLimits(NamedTuple):
    """What a split must respect.

    Attributes
    ----------
    max_features : int
        Features drawn for a split; drawing goes on while none of those drawn can be split.
    min_samples_leaf : int
        Fewest rows of a node.
    min_impurity : float
        A node whose weighted variance, summed over the outputs, is not above it stays a leaf.
    max_conditions : int
        Most splits between the root and a node.
    max_attributes : int
        Most features asked on the way to a node, each counted once.
    groups : ndarray of shape (n_groups, n_features)
        Which features may be asked on the way to one node: those of a group, and each is in some group. Without groups
        any may.
    """

    max_features: int
    min_samples_leaf: int = 1
    min_impurity: float = 0.0
    max_conditions: int = np.iinfo(np.int64).max
    max_attributes: int = np.iinfo(np.int64).max
    groups: BoolArray = NO_GROUPS


class FeatureTable(NamedTuple):
    """What the kernels know of the features.

    Attributes
    ----------
    stride : int
        Numbers of a cell, two more than there are outputs.
    first_cells : ndarray of shape (n_features + 1,)
        Place of each feature's first cell in a histogram, and the end of the last.
    n_bins : ndarray of shape (n_features,)
        Bins of each feature, missing not counted.
    n_categories : ndarray of shape (n_features,)
        Categories of each feature, 0 for a numeric one.
    ways : ndarray of shape (n_features,)
        Whether the target rises (1) or falls (-1) with a feature, 0 for either. A feature with a way is cut once on the
        path to a node: a second cut would give a node that is bounded on both sides, whose rule goes neither way.
    has_missing : ndarray of shape (n_features,)
        Whether any value is missing.
    """

    stride: int
    first_cells: IntArray
    n_bins: IntArray
    n_categories: IntArray
    ways: IntArray
    has_missing: BoolArray


class Boosting(NamedTuple):
    """How trees follow each other.

    Attributes
    ----------
    n_rules : int
        Nodes to grow, roots not counted.
    patience : int
        Draws in a row without a tree after which growing stops.
    leaf_scale : float
        Scale of the exponential distribution that the size of a tree is drawn from.
    shrinkage : float
        Factor of a tree in the scores.
    vanished : float
        Size of residuals that leave nothing to grow on.
    squared : bool
        Whether the residuals are those of the squared loss, which the kernel knows; any others are to be written before
        each tree.
    """

    n_rules: int
    patience: int
    leaf_scale: float
    shrinkage: float
    vanished: float
    squared: bool


class Pool(NamedTuple):
    """The rows that the samples of the trees come from.

    Attributes
    ----------
    codes : ndarray of shape (n_features, n_pool)
        Bins.
    weights : ndarray of shape (n_pool,)
    targets, scores : ndarray of shape (n_pool, n_outputs)
        The scores are those of the trees so far.
    """

    codes: ByteArray
    weights: FloatArray
    targets: FloatArray
    scores: FloatArray


class Drawn(NamedTuple):
    """What the next tree is grown on.

    Attributes
    ----------
    rows : ndarray of shape (n_sample,)
        Rows of the pool, in increasing order.
    residuals, curvatures : ndarray of shape (n_sample, n_outputs)
        Half of the derivatives of the loss on those rows; of no use for the squared loss.
    marks : ndarray of shape (n_pool,)
        Zeros, to draw by.
    """

    rows: IntArray
    residuals: FloatArray
    curvatures: FloatArray
    marks: ByteArray


class Sample(NamedTuple):
    """The rows to grow a tree on.

    Attributes
    ----------
    codes : ndarray of shape (n_features, n_pool)
        Bins of all rows of the pool.
    rows : ndarray of shape (n_sample,)
        Which rows of the pool; they end in the order of the leaves.
    work : ndarray of shape (n_sample, n_columns)
        Weight, weighted squared residual and weighted residual of each output for `rows`, in their order; then the
        weighted curvature of each output, unless it is 1 as that of the squared loss.
    """

    codes: ByteArray
    rows: IntArray
    work: FloatArray


class Nodes(NamedTuple):
    """The nodes of trees, one tree after the other, each with the root first; other nodes count from the root.

    Attributes
    ----------
    features, children, cuts : ndarray of shape (n_nodes,)
        Feature of the split; the first of the two children, which follow each other, -1 for a leaf; the last bin going
        left, -1 for a categorical split.
    sides : ndarray of shape (n_nodes, 256)
        Side of each code.
    n_rows : ndarray of shape (n_nodes,)
        Rows of the sample.
    values : ndarray of shape (n_nodes, n_outputs)
        Newton step of each output.
    sums : ndarray of shape (n_nodes, n_columns)
        Sums of ``Sample.work``.
    parents, begins, depths, slots : ndarray of shape (n_nodes,)
        The node above; the place of the first row in the sample; the number of splits above; the place of the
        histogram.
    gains : ndarray of shape (n_nodes,)
        Gain of the split; -1 while it is not known, 0 if there is none or the split is made.
    """

    features: Int32Array
    children: Int32Array
    cuts: Int32Array
    sides: ByteArray
    n_rows: IntArray
    values: FloatArray
    sums: FloatArray
    parents: IntArray
    begins: IntArray
    depths: IntArray
    slots: IntArray
    gains: FloatArray


def make_nodes(n_nodes: int, n_outputs: int, n_columns: int) -> Nodes:
    """Return room for nodes; not compiled, for allocations take numba long to compile."""
    features, children, cuts = np.empty((3, n_nodes), dtype=np.int32)
    n_rows, parents, begins, depths, slots = np.empty((5, n_nodes), dtype=np.int64)
    sides, gains = np.empty((n_nodes, 256), dtype=np.uint8), np.empty(n_nodes)
    values, sums = np.empty((n_nodes, n_outputs)), np.empty((n_nodes, n_columns))
    return Nodes(features, children, cuts, sides, n_rows, values, sums, parents, begins, depths, slots, gains)


class Space(NamedTuple):
    """Working space of a scan: the cells in its order, what categories are sorted by, one number an output."""

    order: IntArray
    keys: FloatArray
    prefix: FloatArray


@njit(nogil=True, error_model="numpy")
def bin_values(block: FloatArray, thresholds: FloatArray, n_categories: IntArray, codes: ByteArray) -> None:
    """Write the bin of each value into `codes`; row f of `thresholds` is increasing and ends in infinities."""
    for f in range(block.shape[0]):
        cuts = thresholds[f]
        for i in range(block.shape[1]):
            x = block[f, i]
            if np.isnan(x):
                codes[f, i] = MISSING
            elif n_categories[f] > 0:
                codes[f, i] = np.uint8(x)
            else:
                # Binary search for the number of thresholds below x; a product has no branch to guess wrong.
                below = np.uint64(0)
                step = np.uint64(128)
                while step > 0:
                    below += step * np.uint64(cuts[below + step - ONE] < x)
                    step >>= ONE
                codes[f, i] = below


@njit(nogil=True, error_model="numpy")
def _draw_word(state: Words) -> Any:
    """Draw 64 bits at random.

    The generator is xorshift64: without products, plain Python draws the same numbers and warns of no overflow.
    """
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return x


@njit(nogil=True, error_model="numpy")
def _draw_below(limit: Integer, state: Words) -> Integer:
    """Draw one of the numbers from 0 to `limit` - 1, which is below 2**32."""
    return np.int64((_draw_word(state) >> np.uint64(32)) * np.uint64(limit) >> np.uint64(32))


@njit(nogil=True, error_model="numpy")
def draw_tree(boosting: Boosting, drawn: Drawn, tally: IntArray, state: Words) -> None:
    """Draw the number of leaves of the next tree, 2 plus the whole part of an exponential, and its rows.

    The rows are drawn by Floyd's algorithm: each step takes a row up to its last one, or that last one where it has
    taken the row before.
    """
    share = float(_draw_word(state) >> np.uint64(11)) * 2.0**-53
    tally[LEAVES] = 2 + np.int64(-boosting.leaf_scale * np.log(1.0 - share))
    rows, marks = drawn.rows, drawn.marks
    n_pool, n_sample = len(marks), len(rows)
    if n_sample == n_pool:
        for i in range(n_pool):
            rows[i] = i
        return
    for last in range(n_pool - n_sample, n_pool):
        place = _draw_below(last + 1, state)
        marks[last if marks[place] > 0 else place] = 1
    n_found = 0
    row = 0
    while n_found < n_sample:  # without a branch that could be guessed wrong
        rows[n_found] = row
        n_found += marks[row]
        marks[row] = 0
        row += 1


@njit(nogil=True, error_model="numpy")
def _draw_candidates(order: IntArray, first: Integer, last: Integer, state: Words) -> None:
    """Draw places first..last-1 of `order` at random from all places at or after `first`, and sort them."""
    for k in range(first, last):
        other = k + _draw_below(len(order) - k, state)
        order[k], order[other] = order[other], order[k]
    for k in range(first + 1, last):  # numba takes a second to compile a sort of its own
        f = order[k]
        j = k
        while j > first and order[j - 1] > f:
            order[j] = order[j - 1]
            j -= 1
        order[j] = f


@njit(nogil=True, error_model="numpy")
def _fill_cells(sample: Sample, table: FeatureTable, f: int, begin: int, end: int, cells: FloatArray) -> None:
    """Count the rows begin..end-1 in the cells of feature f, the last of which is for missing values."""
    codes, rows, work = sample
    stride = table.stride
    first_cell, last_cell = table.first_cells[f], table.first_cells[f + 1] - stride
    for c in range(first_cell, last_cell + stride):
        cells[c] = 0.0
    first_place, last_place, width = np.uint64(first_cell), np.uint64(last_cell), np.uint64(stride)
    for i in range(begin, end):
        place = min(first_place + width * np.uint64(codes[f, np.uint64(rows[i])]), last_place)
        cells[place] += 1.0
        cells[place + ONE] += work[i, 0]
        cells[place + TWO] += work[i, 2]
        for k in range(3, stride):
            cells[place + np.uint64(k)] += work[i, k]


@njit(nogil=True, error_model="numpy")
def _order_cells(
    cells: FloatArray, first_cell: int, n_bins: int, categorical: bool, sums: FloatArray, space: Space
) -> int:  # fmt: skip
    """Write the cells a scan shall pass into ``space.order`` and return their number; `sums` are those of the node.

    Bins of a numeric feature keep their order. Categories with rows, missing as one of them, are sorted by their mean
    target; with several outputs by its projection on the first principal direction, found by power iteration.
    """
    order, keys, direction = space
    n_outputs = len(direction)
    stride = 2 + n_outputs
    n_cells = 0
    for c in range(first_cell, first_cell + stride * (n_bins + 1 if categorical else n_bins), stride):
        if cells[c] > 0.0 or not categorical:
            order[n_cells] = c
            n_cells += 1
    if not categorical:
        return n_cells
    n_steps = 30 if n_outputs > 1 else 1
    for j in range(n_outputs):
        direction[j] = 1.0 / (j + 1)  # equal parts would be at right angles to targets that add up to a constant
    for step in range(n_steps):
        norm = 0.0
        for j in range(n_outputs):
            norm += direction[j] ** 2
        norm = max(np.sqrt(norm), TINY)
        for j in range(n_outputs):
            direction[j] /= norm
        for k in range(n_cells):
            keys[k] = 0.0
            for j in range(n_outputs):
                shift = cells[order[k] + 2 + j] - cells[order[k] + 1] * sums[j + 2] / sums[0]
                keys[k] += direction[j] * shift / max(cells[order[k] + 1], TINY)
        if step + 1 < n_steps:
            for j in range(n_outputs):
                direction[j] = 0.0
                for k in range(n_cells):
                    shift = cells[order[k] + 2 + j] - cells[order[k] + 1] * sums[j + 2] / sums[0]
                    direction[j] += keys[k] * shift
    for k in range(1, n_cells):
        key, c = keys[k], order[k]
        j = k
        while j > 0 and keys[j - 1] > key:
            keys[j], order[j] = keys[j - 1], order[j - 1]
            j -= 1
        keys[j], order[j] = key, c
    return n_cells


@njit(nogil=True, error_model="numpy")
def _best_prefix(
    cells: FloatArray, space: Space, n_cells: int, absent: int, way: int, n_rows: int, sums: FloatArray,
    min_rows: int, min_weight: float, best: float, tie: float
) -> tuple[float, int, int]:  # fmt: skip
    """Find how many of the ordered cells of a feature to send left for the most gain over `best`.

    If the cell `absent` (-1: none) has rows, a second pass sends them left too. Return the gain, the number of cells
    (0: none gains) and the side of the absent. The gain ``W / (W_L W_R) * sum_j (S_Lj - W_L S_j / W)^2`` is the
    decrease of the weighted squared error; `sums` are those of the node.

    If the target rises (`way` is 1) or falls (-1) with the feature, a cut between known values must have the lower
    mean of the first output on the side that it should be.
    """
    order, _, prefix = space
    n_outputs = len(prefix)
    weight = sums[0]
    mean = sums[2] / weight
    min_left, max_left = float(min_rows), float(n_rows - min_rows)
    min_product = min_weight * weight
    least = best + tie
    length = 0
    has_absent = absent >= 0 and cells[absent] > 0.0
    known = n_rows - cells[absent] if has_absent else float(n_rows)
    absent_side = RIGHT if has_absent else HEAVIER
    left_rows, left_weight, left_sum = 0.0, 0.0, 0.0
    for j in range(n_outputs):
        prefix[j] = 0.0
    for side in range(RIGHT, LEFT - 1 if has_absent else LEFT, -1):
        if side == LEFT:
            left_rows, left_weight, left_sum = cells[absent], cells[absent + 1], cells[absent + 2]
            for j in range(1, n_outputs):
                prefix[j] = cells[absent + 2 + j]
        for k in range(n_cells):
            c = np.uint64(order[k])
            left_rows += cells[c]
            left_weight += cells[c + ONE]
            left_sum += cells[c + TWO]
            for j in range(1, n_outputs):
                prefix[j] += cells[c + np.uint64(j + 2)]
            if left_rows < min_left:
                continue
            if left_rows > max_left:
                break
            product = left_weight * (weight - left_weight)
            shift = left_sum - left_weight * mean
            square = shift * shift
            for j in range(1, n_outputs):
                other = prefix[j] - left_weight * sums[j + 2] / weight
                square += other * other
            if square * weight > least * product and product > min_product:
                if way * shift > 0.0 and (side == LEFT or left_rows < known):
                    continue
                best = square * weight / product
                least = best + tie
                length = k + 1
                absent_side = side if has_absent else HEAVIER
    return best, length, absent_side


@njit(nogil=True, error_model="numpy")
def _write_sides(
    cells: FloatArray, first_cell: int, stride: int, n_bins: int, categorical: bool, order: IntArray, n_cells: int,
    length: int, absent_side: int, sides: ByteArray
) -> int:  # fmt: skip
    """Write the side of each code if the first `length` cells go left; return the last bin going left, or -1.

    A numeric cut moves to the middle of the bins without rows that follow it, which no row of the node feels. The
    middle is counted in bins, not in values, so that trees do not change with a monotone change of a feature.
    """
    if not categorical:
        following = length
        while following < n_bins and cells[first_cell + stride * following] == 0.0:
            following += 1
        # If only missing values go right, no threshold may tear values off that the node has not seen.
        cut = n_bins - 1 if following == n_bins else (length + following) // 2 - 1
        sides[: cut + 1] = LEFT
        sides[cut + 1 :] = RIGHT
        sides[MISSING] = absent_side
        return cut
    for code in range(256):
        sides[code] = HEAVIER if code < n_bins else NEITHER
    sides[MISSING] = absent_side
    # Missing values alone go right, as they do for a numeric feature.
    swap = length == 1 and order[0] == first_cell + stride * n_bins
    for k in range(n_cells):
        b = (order[k] - first_cell) // stride
        sides[b if b < n_bins else MISSING] = LEFT if (k < length) != swap else RIGHT
    return -1


@njit(nogil=True, error_model="numpy")
def _is_bounded(nodes: Nodes, n_bins: IntArray, node: int, f: int) -> bool:
    """Whether feature f is cut on the way to a node; a cut off of the missing values bounds nothing."""
    while node > 0:
        node = nodes.parents[node]
        if nodes.features[node] == f and nodes.cuts[node] < n_bins[f] - 1:
            return True
    return False


@njit(nogil=True, error_model="numpy")
def _find_open(nodes: Nodes, node: int, limits: TreeLimits, is_open: BoolArray) -> None:
    """Write which features a node may be split by, given those that are asked on the way to it."""
    is_open[:] = False
    n_asked = 0
    above = node
    while above > 0:
        above = nodes.parents[above]
        f = nodes.features[above]
        n_asked += 0 if is_open[f] else 1
        is_open[f] = True
    if n_asked >= limits.max_attributes:
        return  # no other may join those
    groups = limits.groups
    if n_asked == 0 or len(groups) == 0:
        is_open[:] = True
        return
    for g in range(len(groups)):
        above = nodes.parents[node]
        while above > 0 and groups[g, nodes.features[above]]:
            above = nodes.parents[above]
        if groups[g, nodes.features[above]]:  # and so has all that is asked
            for f in range(len(is_open)):
                is_open[f] |= groups[g, f]


@njit(nogil=True, error_model="numpy")
def _find_split(
    sample: Sample, table: FeatureTable, limits: TreeLimits, candidates: IntArray, state: Words, cells: FloatArray,
    counted: bool, nodes: Nodes, node: int, is_open: BoolArray, space: Space, tie: float, min_weight: float
) -> float:  # fmt: skip
    """Write the best split of a node into `nodes` and return its gain, 0 if nothing gains.

    `cells` is the histogram of the node if it is `counted`, else room for one, and `is_open` room for a flag a feature.
    """
    stride, first_cells, n_bins, n_categories, ways, _ = table
    sums, sides, n_rows = nodes.sums[node], nodes.sides[node], nodes.n_rows[node]
    begin = nodes.begins[node]
    n_candidates = len(candidates)
    limited = limits.max_attributes < n_candidates or len(limits.groups) > 0
    if limited:
        _find_open(nodes, node, limits, is_open)
    gain = 0.0
    n_tried = 0
    n_drawn: Integer = np.int64(0)  # a literal would compile what it is passed to twice
    while n_drawn < n_candidates and (gain == 0.0 or n_tried < limits.max_features):
        # As scikit-learn: go on drawing while no feature drawn so far can be split, and draw among the open ones.
        goal = n_drawn + 1 if n_drawn > 0 else min(limits.max_features, n_candidates)
        if limits.max_features < n_candidates:
            _draw_candidates(candidates, n_drawn, goal, state)
        for k in range(n_drawn, goal):
            f = candidates[k]
            if limited and not is_open[f]:
                continue
            n_tried += 1
            if ways[f] != 0 and _is_bounded(nodes, n_bins, node, f):
                continue
            if not counted:
                _fill_cells(sample, table, f, begin, begin + n_rows, cells)
            categorical = n_categories[f] > 0
            n_cells = _order_cells(cells, first_cells[f], n_bins[f], categorical, sums, space)
            absent = -1 if categorical else first_cells[f + 1] - stride
            gain, length, absent_side = _best_prefix(
                cells, space, n_cells, absent, ways[f], n_rows, sums, limits.min_samples_leaf, min_weight, gain, tie
            )  # fmt: skip
            if length > 0:
                nodes.features[node] = f
                nodes.cuts[node] = _write_sides(
                    cells, first_cells[f], stride, n_bins[f], categorical, space.order, n_cells, length, absent_side,
                    sides
                )  # fmt: skip
        n_drawn = goal
    return gain


@njit(nogil=True, error_model="numpy")
def _partition(
    sample: Sample, begin: int, end: int, f: int, sides: ByteArray, spare_rows: IntArray, spare: FloatArray
) -> Integer:  # fmt: skip
    """Move the rows that go left to the front of begin..end-1, both parts in their old order; return where they end.

    Each row is written to both places where it could go, and counted in one: a branch would often be guessed wrong.
    """
    codes, rows, work = sample
    own = codes[f]
    n_left, n_right = np.uint64(begin), np.uint64(0)
    for i in range(np.uint64(begin), np.uint64(end)):
        row = rows[i]
        left = np.uint64(sides[own[np.uint64(row)]] == LEFT)
        spare_rows[n_right] = row
        rows[n_left] = row
        for k in range(work.shape[1]):
            value = work[i, k]
            spare[n_right, k] = value
            work[n_left, k] = value
        n_left += left
        n_right += ONE - left
    middle = np.int64(n_left)
    for i in range(end - middle):
        rows[middle + i] = spare_rows[i]
        for k in range(work.shape[1]):
            work[middle + i, k] = spare[i, k]
    return middle


@njit(nogil=True, error_model="numpy")
def _add_rows(work: FloatArray, begin: Integer, end: Integer, sums: FloatArray) -> None:
    """Write the sums of the rows begin..end-1; the first three, which all have, are kept at hand meanwhile."""
    first = second = third = 0.0
    for i in range(np.uint64(begin), np.uint64(end)):
        first += work[i, 0]
        second += work[i, 1]
        third += work[i, 2]
    sums[0], sums[1], sums[2] = first, second, third
    for k in range(3, work.shape[1]):
        sums[k] = 0.0
        for i in range(begin, end):
            sums[k] += work[i, k]


@njit(nogil=True, error_model="numpy")
def _start_node(nodes: Nodes, node: Integer, begin: Integer, n_rows: Integer, parent: Integer, depth: Integer) -> None:
    """Begin a node that has rows but no sums and no split yet."""
    nodes.features[node] = nodes.children[node] = nodes.cuts[node] = -1
    nodes.begins[node], nodes.n_rows[node] = begin, n_rows
    nodes.parents[node], nodes.depths[node] = parent, depth
    nodes.slots[node] = 0
    nodes.gains[node] = 0.0
    nodes.sides[node] = NEITHER


@njit(nogil=True, error_model="numpy")
def _finish_nodes(nodes: Nodes, n_nodes: int, has_missing: BoolArray, level: FloatArray) -> None:
    """Take what found no room out of the leaves, and write the Newton step of each node and output.

    The step is the mean residual where the loss is all but flat. The ramp is flat outside, a confident logistic loss
    nearly so: a Newton step would be a leap there.
    """
    n_outputs = len(level)
    for node in range(n_nodes):
        if nodes.children[node] < 0:
            nodes.features[node] = -1
            nodes.sides[node] = NEITHER
        elif not has_missing[nodes.features[node]]:
            nodes.sides[node, MISSING] = NEITHER
        sums = nodes.sums[node]
        weight = max(sums[0], TINY)
        for j in range(n_outputs):
            curvature = sums[2 + n_outputs + j] / weight if len(sums) > 2 + n_outputs else 1.0
            step = sums[2 + j] / weight + level[j]
            nodes.values[node, j] = step / curvature if curvature > FLAT else step


@njit(nogil=True, error_model="numpy")
def _grow_tree(
    sample: Sample, table: FeatureTable, limits: TreeLimits, max_leaves: Integer, candidates: IntArray, state: Words,
    histograms: FloatArray, nodes: Nodes, level: FloatArray
) -> int:  # fmt: skip
    """Grow one tree, best split first, and return its number of nodes, the first ones of `nodes`.

    `candidates` are the features that can be split, and `state` the state of the random generator; both change when
    features are drawn. `histograms` is working space of shape (n_slots, n_cells * (2 + n_outputs)): with a slot for
    each leaf the histogram of the larger child is its parent's less its sibling's; with one slot every histogram is
    counted. The residuals are `level` higher than those of the sample.
    """
    work = sample.work
    begins, n_rows, sums, gains, slots = nodes.begins, nodes.n_rows, nodes.sums, nodes.gains, nodes.slots
    n_outputs = len(level)
    keep_histograms = limits.max_features >= len(candidates) and histograms.shape[0] >= max_leaves
    spare, spare_rows = np.empty(work.shape), np.empty(len(work), dtype=np.int64)
    is_open = np.empty(len(table.n_bins), dtype=np.bool_)
    space = Space(np.empty(257, dtype=np.int64), np.empty(257), np.empty(n_outputs))
    tie = 0.0
    min_weight = 0.0

    n_nodes = 1
    n_leaves = 1
    _start_node(nodes, 0, 0, len(work), 0, 0)
    chosen = 0
    fresh = 0  # nodes from here on have no sums and no split yet
    while True:
        for node in range(fresh, n_nodes):
            _add_rows(work, begins[node], begins[node] + n_rows[node], sums[node])
        if n_leaves == 1:
            # Gains within rounding of each other are ties, and within rounding of zero none.
            tie = 1e-11 * sums[0, 1]
            min_weight = 1e-13 * sums[0, 0]
        else:
            heavier = LEFT if sums[fresh, 0] >= sums[fresh + 1, 0] else RIGHT
            sides = nodes.sides[chosen]
            for code in range(256):
                sides[code] = heavier if sides[code] == HEAVIER else sides[code]
        if n_leaves == max_leaves:
            break

        n_open = 0
        small = fresh
        for node in range(fresh, n_nodes):
            impurity = sums[node, 1]
            for j in range(2, n_outputs + 2):
                impurity -= sums[node, j] ** 2 / max(sums[node, 0], TINY)
            enough = n_rows[node] >= 2 * limits.min_samples_leaf and nodes.depths[node] < limits.max_conditions
            if enough and impurity > max(tie, limits.min_impurity * sums[node, 0]):
                gains[node] = -1.0
                n_open += 1
            slots[node] = slots[chosen]
            if n_rows[node] < n_rows[small]:
                small = node
        if keep_histograms and n_open > 0:
            # The new slot takes the smaller child; what is left in the parent's slot is the larger child.
            slots[small] = n_leaves - 1
            cells = histograms[n_leaves - 1]
            for k in range(len(candidates)):
                _fill_cells(sample, table, candidates[k], begins[small], begins[small] + n_rows[small], cells)
            if n_leaves > 1:
                rest = histograms[slots[chosen]]
                for c in range(len(cells)):
                    rest[c] -= cells[c]
        for node in range(fresh, n_nodes):
            if gains[node] != 0.0:
                cells = histograms[slots[node] if keep_histograms else 0]
                gains[node] = _find_split(
                    sample, table, limits, candidates, state, cells, keep_histograms, nodes, node, is_open, space, tie,
                    min_weight
                )  # fmt: skip

        chosen = n_nodes - 1
        for node in range(n_nodes - 1, -1, -1):
            if gains[node] >= gains[chosen] - tie:
                chosen = node
        if gains[chosen] == 0.0:
            break
        gains[chosen] = 0.0
        begin = begins[chosen]
        end = begin + n_rows[chosen]
        middle = _partition(sample, begin, end, nodes.features[chosen], nodes.sides[chosen], spare_rows, spare)
        fresh = n_nodes
        nodes.children[chosen] = fresh
        _start_node(nodes, fresh, begin, middle - begin, chosen, nodes.depths[chosen] + 1)
        _start_node(nodes, fresh + 1, middle, end - middle, chosen, nodes.depths[chosen] + 1)
        n_nodes += 2
        n_leaves += 1
    _finish_nodes(nodes, n_nodes, table.has_missing, level)
    return n_nodes


@njit(nogil=True, error_model="numpy")
def _add_tree(codes: ByteArray, nodes: Nodes, n_nodes: int, factor: float, scores: FloatArray) -> None:
    """Add `factor` times the values of a tree to the scores (n_rows, n_outputs) of the binned rows, in place."""
    features, children, cuts, sides, values = nodes.features, nodes.children, nodes.cuts, nodes.sides, nodes.values
    n_rows, n_outputs = scores.shape
    places = np.empty(BLOCK_ROWS, dtype=np.int32)
    for begin in range(0, n_rows, BLOCK_ROWS):
        size = min(BLOCK_ROWS, n_rows - begin)
        for i in range(size):
            places[i] = 0
        # All rows of the block pass each split, for a comparison of bytes is cheaper than a walk's wrong guess.
        for node in range(n_nodes):
            if features[node] < 0:
                continue
            here = codes[features[node], begin : begin + size]
            child = children[node]
            if cuts[node] < 0 or sides[node, MISSING] == LEFT:
                for i in range(size):
                    side = sides[node, here[i]]
                    if places[i] == node and side != NEITHER:
                        places[i] = child + np.int32(side == RIGHT)
            else:
                cut = cuts[node]
                for i in range(size):
                    places[i] = child + np.int32(here[i] > cut) if places[i] == node else places[i]
        for i in range(size):
            for j in range(n_outputs):
                scores[begin + i, j] += factor * values[places[i], j]


@njit(nogil=True, error_model="numpy")
def _take_residuals(pool: Pool, drawn: Drawn, squared: bool, level: FloatArray) -> float:
    """Write the mean residual of each output into `level`, and of the squared loss all residuals; return the largest.

    The sign of the largest does not count.
    """
    rows, residuals = drawn.rows, drawn.residuals
    total = largest = 0.0
    level[:] = 0.0
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        weight = pool.weights[row]
        total += weight
        for j in range(len(level)):
            if squared:
                residuals[i, j] = pool.targets[row, j] - pool.scores[row, j]
            largest = max(largest, abs(residuals[i, j]))
            level[j] += weight * residuals[i, j]
    for j in range(len(level)):
        level[j] /= max(total, TINY)
    return largest


@njit(nogil=True, error_model="numpy")
def _centre(pool: Pool, drawn: Drawn, level: FloatArray, work: FloatArray) -> None:
    """Write what nodes sum, with centred residuals: so sums of squares lose no digits to a level that all share."""
    n_outputs = len(level)
    for i in range(len(drawn.rows)):
        weight = pool.weights[np.uint64(drawn.rows[i])]
        square = 0.0
        for j in range(n_outputs):
            centred = drawn.residuals[i, j] - level[j]
            work[i, 2 + j] = weight * centred
            square += weight * centred * centred
        work[i, 0], work[i, 1] = weight, square
        for k in range(2 + n_outputs, work.shape[1]):
            work[i, k] = weight * drawn.curvatures[i, k - 2 - n_outputs]


@njit(nogil=True, error_model="numpy")
def cut_nodes(nodes: Nodes, first: Integer, end: Integer) -> Nodes:
    """Return the nodes first..end-1, which share their memory."""
    return Nodes(
        nodes.features[first:end], nodes.children[first:end], nodes.cuts[first:end], nodes.sides[first:end],
        nodes.n_rows[first:end], nodes.values[first:end], nodes.sums[first:end], nodes.parents[first:end],
        nodes.begins[first:end], nodes.depths[first:end], nodes.slots[first:end], nodes.gains[first:end],
    )  # fmt: skip


@njit(nogil=True, error_model="numpy")
def grow_trees(
    n_trees: int, boosting: Boosting, pool: Pool, drawn: Drawn, work: FloatArray, table: FeatureTable,
    limits: TreeLimits, candidates: IntArray, state: Words, histograms: FloatArray, nodes: Nodes, roots: IntArray,
    tally: IntArray
) -> bool:  # fmt: skip
    """Grow the next trees and return whether there are more to grow.

    The first one is grown on what was drawn already; for another loss than the squared one, its residuals and
    curvatures must be there too, so that `n_trees` is 1. Each tree goes after those before it in `nodes`, its place
    into `roots`, and changes the scores of the pool; then the next sample is drawn.
    """
    level = np.empty(pool.targets.shape[1])
    for _ in range(n_trees):
        n_left = boosting.n_rules - (tally[NODES] - tally[TREES])
        if n_left < 2 or tally[FAILED] >= boosting.patience:
            return False
        tally[FAILED] += 1
        if _take_residuals(pool, drawn, boosting.squared, level) > boosting.vanished:
            _centre(pool, drawn, level, work)
            own = cut_nodes(nodes, tally[NODES], len(nodes.features))
            max_leaves = min(tally[LEAVES], 1 + n_left // 2, len(drawn.rows))
            n_nodes = _grow_tree(
                Sample(pool.codes, drawn.rows, work),
                table,
                limits,
                max_leaves,
                candidates,
                state,
                histograms,
                own,
                level,
            )
            if n_nodes > 1:
                if boosting.shrinkage > 0.0:
                    _add_tree(pool.codes, own, n_nodes, boosting.shrinkage, pool.scores)
                roots[tally[TREES]] = tally[NODES]
                tally[TREES] += 1
                tally[NODES] += n_nodes
                tally[FAILED] = 0
        draw_tree(boosting, drawn, tally, state)
    return True


@njit(nogil=True, error_model="numpy")
def find_nodes(
    block: FloatArray, roots: IntArray, features: Int32Array, thresholds: FloatArray, categorical: ByteArray,
    left_categories: Words, right_categories: Words, missing: npt.NDArray[np.int8], left: Int32Array, right: Int32Array,
    places: Int32Array
) -> None:  # fmt: skip
    """Write into `places` (n_trees, n_rows) the node of each tree where each row of the block ends."""
    for tree in range(len(roots)):
        for i in range(block.shape[1]):
            node = roots[tree]
            while features[node] >= 0:
                x = block[features[node], i]
                side = NEITHER
                if np.isnan(x):
                    side = int(missing[node])
                elif categorical[node] == 0:
                    side = LEFT if x <= thresholds[node] else RIGHT
                elif 0.0 <= x < 256.0:
                    code = np.int64(x)
                    bit = ONE << np.uint64(code & 63)
                    if left_categories[node, code >> 6] & bit:
                        side = LEFT
                    elif right_categories[node, code >> 6] & bit:
                        side = RIGHT
                if side == NEITHER:
                    break
                node = int(left[node] if side == LEFT else right[node])
            places[tree, i] = node

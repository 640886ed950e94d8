"""Compiled loops of binning, growing and walking trees.

A *cell* is one bin of one feature in a histogram; the cells of a feature lie side by side and its missing values
have the cell after its last bin. A cell holds ``[rows, weight, weighted target of each output]``.
"""

import numpy as np
from numba import njit

from rulegrove._typing import ByteArray, FloatArray, Int32Array, IntArray, Words

MISSING = 255
"""Code of a missing value among the bins, which are numbered 0..254."""

NEITHER, LEFT, RIGHT, HEAVIER = 0, 1, 2, 3
"""Sides of a split; HEAVIER stands, until the node is split, for the child that will weigh more."""

BLOCK_ROWS = 4096


@njit(cache=True, nogil=True)
def bin_values(block: FloatArray, thresholds: FloatArray, n_categories: IntArray, codes: ByteArray) -> None:
    """Write the bin of each value into `codes`; row f of `thresholds` is increasing and ends in infinities."""
    n_features, n_rows = block.shape
    for f in range(n_features):
        cuts = thresholds[f]
        first_step = 1
        while first_step < 256 and cuts[first_step - 1] < np.inf:
            first_step *= 2
        for i in range(n_rows):
            x = block[f, i]
            if np.isnan(x):
                codes[f, i] = MISSING
            elif n_categories[f] > 0:
                codes[f, i] = np.uint8(x)
            else:
                # The number of thresholds below x, by a search without branches.
                below = 0
                step = first_step // 2
                while step > 0:
                    below += step * int(cuts[below + step - 1] < x)
                    step //= 2
                codes[f, i] = below


@njit(cache=True, nogil=True)
def _draw_below(n: int, state: Words) -> int:
    """Draw one of 0..n-1 by xorshift64 (no multiplication, so plain Python gives the same numbers)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64(x >> np.uint64(33)) % n


@njit(cache=True, nogil=True)
def _draw_candidates(order: IntArray, first: int, last: int, state: Words) -> None:
    """Draw places first..last-1 of `order` at random from all places at or after `first`, and sort them."""
    for k in range(first, last):
        other = k + _draw_below(len(order) - k, state)
        order[k], order[other] = order[other], order[k]
    for k in range(first + 1, last):
        f = order[k]
        j = k
        while j > first and order[j - 1] > f:
            order[j] = order[j - 1]
            j -= 1
        order[j] = f


@njit(cache=True, nogil=True)
def _fill_cells(
    codes: ByteArray, rows: IntArray, work: FloatArray, begin: int, end: int, first_cell: int, n_bins: int,
    cells: FloatArray
) -> None:  # fmt: skip
    """Add the rows begin..end-1 to the cells of the one feature whose codes are given."""
    n_sums = cells.shape[1] - 1
    if n_sums == 2:
        for i in range(begin, end):
            c = first_cell + min(np.int64(codes[rows[i]]), n_bins)
            cells[c, 0] += 1.0
            cells[c, 1] += work[i, 0]
            cells[c, 2] += work[i, 1]
    else:
        for i in range(begin, end):
            c = first_cell + min(np.int64(codes[rows[i]]), n_bins)
            cells[c, 0] += 1.0
            for k in range(n_sums):
                cells[c, k + 1] += work[i, k]


@njit(cache=True, nogil=True)
def _best_prefix(
    cells: FloatArray, order: IntArray, n_cells: int, shortest: int, n_rows: int, sums: FloatArray,
    min_rows: int, min_weight: float, best: float, tie: float, prefix: FloatArray
) -> tuple[float, int]:  # fmt: skip
    """Find the prefix of the ordered cells whose split from the rest gains most over `best`; 0 cells if none does.

    The gain ``W / (W_L W_R) * sum_j (S_Lj - W_L S_j / W)^2`` is the decrease of the weighted squared error.
    """
    n_outputs = cells.shape[1] - 2
    weight = sums[0]
    length = 0
    left_rows = 0.0
    left_weight = 0.0
    prefix[:n_outputs] = 0.0
    left_sum = 0.0
    mean = sums[1] / weight
    for k in range(n_cells):
        c = order[k]
        left_rows += cells[c, 0]
        left_weight += cells[c, 1]
        left_sum += cells[c, 2]
        for j in range(1, n_outputs):
            prefix[j] += cells[c, j + 2]
        if left_rows < min_rows or k + 1 < shortest:
            continue
        if n_rows - left_rows < min_rows:
            break
        right_weight = weight - left_weight
        if left_weight <= min_weight or right_weight <= min_weight:
            continue
        shift = left_sum - left_weight * mean
        square = shift * shift
        for j in range(1, n_outputs):
            shift = prefix[j] - left_weight * sums[j + 1] / weight
            square += shift * shift
        gain = square * weight / (left_weight * right_weight)
        if gain > best + tie:
            best = gain
            length = k + 1
    return best, length


@njit(cache=True, nogil=True)
def _scan_numeric(
    cells: FloatArray, first_cell: int, n_bins: int, lows: FloatArray, highs: FloatArray, n_rows: int,
    sums: FloatArray, min_rows: int, min_weight: float, best: float, tie: float, order: IntArray, prefix: FloatArray
) -> tuple[float, int, int]:  # fmt: skip
    """Find the best cut of one numeric feature: its gain, the last bin going left (-1: none) and the missing side."""
    absent = first_cell + n_bins
    order[0] = absent
    for b in range(n_bins):
        order[b + 1] = first_cell + b
    n_missing = cells[absent, 0]
    best, length = _best_prefix(
        cells, order[1:], n_bins, 1, n_rows, sums, min_rows, min_weight, best, tie, prefix
    )  # fmt: skip
    last = length - 1
    side = RIGHT if n_missing > 0 else HEAVIER
    if n_missing > 0:
        # A prefix of the missing cell alone was seen already: it is the split of all values from the missing ones.
        best, length = _best_prefix(
            cells, order, n_bins + 1, 2, n_rows, sums, min_rows, min_weight, best, tie, prefix
        )  # fmt: skip
        if length > 0:
            last = length - 2
            side = LEFT
    if last >= 0:
        following = last + 1
        while following < n_bins and cells[first_cell + following, 0] == 0.0:
            following += 1
        if following == n_bins:
            # All values of the node go left, the missing ones right: no threshold may tear unseen values off.
            last = n_bins - 1
        else:
            # Bins without rows in the node lie on either side of the middle, as a threshold there would place them.
            middle = highs[last] / 2 + lows[following] / 2
            while last + 1 < following and lows[last + 1] <= middle:
                last += 1
    return best, last, side


@njit(cache=True, nogil=True)
def _principal_keys(cells: FloatArray, order: IntArray, n_cells: int, sums: FloatArray, keys: FloatArray) -> None:
    """Write the projections of the cells' means on their first principal direction, by power iteration."""
    n_outputs = cells.shape[1] - 2
    shifts = np.zeros((n_cells, n_outputs))
    direction = np.zeros(n_outputs)
    largest = 0.0
    for k in range(n_cells):
        c = order[k]
        size = 0.0
        if cells[c, 1] > 0.0:
            for j in range(n_outputs):
                shifts[k, j] = cells[c, j + 2] / cells[c, 1] - sums[j + 1] / sums[0]
                size += cells[c, 1] * shifts[k, j] ** 2
        if size > largest:
            largest = size
            direction[:] = shifts[k]
    for _ in range(30):
        norm = 0.0
        for j in range(n_outputs):
            norm += direction[j] ** 2
        if norm == 0.0:
            break
        direction /= np.sqrt(norm)
        for k in range(n_cells):
            keys[k] = 0.0
            for j in range(n_outputs):
                keys[k] += shifts[k, j] * direction[j]
        direction[:] = 0.0
        for k in range(n_cells):
            for j in range(n_outputs):
                direction[j] += cells[order[k], 1] * keys[k] * shifts[k, j]


@njit(cache=True, nogil=True)
def _scan_categories(
    cells: FloatArray, first_cell: int, n_bins: int, n_rows: int, sums: FloatArray, min_rows: int, min_weight: float,
    best: float, tie: float, order: IntArray, prefix: FloatArray, keys: FloatArray, sides: ByteArray
) -> float:  # fmt: skip
    """Find the best subset of one feature's categories, missing among them; `sides` changes only if one gains."""
    n_present = 0
    for b in range(n_bins + 1):
        if cells[first_cell + b, 0] > 0.0:
            order[n_present] = first_cell + b
            keys[n_present] = 0.0
            n_present += 1
    if n_present < 2:
        return best
    if cells.shape[1] > 3:
        _principal_keys(cells, order, n_present, sums, keys)
    else:
        for k in range(n_present):
            c = order[k]
            if cells[c, 1] > min_weight:
                keys[k] = cells[c, 2] / cells[c, 1]
    for k in range(1, n_present):
        key, c = keys[k], order[k]
        j = k
        while j > 0 and keys[j - 1] > key:
            keys[j], order[j] = keys[j - 1], order[j - 1]
            j -= 1
        keys[j], order[j] = key, c
    best, length = _best_prefix(
        cells, order, n_present, 1, n_rows, sums, min_rows, min_weight, best, tie, prefix
    )  # fmt: skip
    if length > 0:
        sides[:] = NEITHER
        sides[:n_bins] = HEAVIER
        sides[MISSING] = HEAVIER
        for k in range(n_present):
            b = order[k] - first_cell
            sides[b if b < n_bins else MISSING] = LEFT if k < length else RIGHT
    return best


@njit(cache=True, nogil=True)
def _partition(
    codes: ByteArray, rows: IntArray, work: FloatArray, begin: int, end: int, sides: ByteArray, spare_rows: IntArray,
    spare: FloatArray
) -> int:  # fmt: skip
    """Move the rows that go left to the front of begin..end-1, both parts in their old order; return where they end."""
    middle = begin
    n_right = 0
    for i in range(begin, end):
        if sides[codes[rows[i]]] == LEFT:
            rows[middle] = rows[i]
            for k in range(work.shape[1]):
                work[middle, k] = work[i, k]
            middle += 1
        else:
            spare_rows[n_right] = rows[i]
            for k in range(work.shape[1]):
                spare[n_right, k] = work[i, k]
            n_right += 1
    for i in range(n_right):
        rows[middle + i] = spare_rows[i]
        for k in range(work.shape[1]):
            work[middle + i, k] = spare[i, k]
    return middle


@njit(cache=True, nogil=True)
def grow_tree(
    codes: ByteArray, sample: IntArray, residuals: FloatArray, curvatures: FloatArray, weights: FloatArray,
    candidates: IntArray, first_cells: IntArray, n_bins: IntArray, n_categories: IntArray, has_missing: ByteArray,
    lows: FloatArray, highs: FloatArray, max_leaves: int, max_features: int, min_rows: int, min_impurity: float,
    max_depth: int, state: Words, histograms: FloatArray, features: Int32Array, children: Int32Array,
    cuts: Int32Array, sides: ByteArray, n_rows: IntArray, values: FloatArray
) -> int:  # fmt: skip
    """Grow one tree, best split first, and return its number of nodes.

    `histograms` is working space of shape (n_slots, n_cells, 2 + n_outputs): with a slot for each leaf the histogram
    of the larger child is its parent's less its sibling's, with one slot every histogram is counted from the rows.
    The last six arrays receive the nodes: the feature of the split (-1: leaf), the first of the two children, the
    last bin going left (-1: categorical), the side of each code, the rows, and the Newton step of each output.
    `state`, the state of the random generator, moves on.
    """
    n_sample, n_outputs = residuals.shape
    n_sums = 1 + n_outputs
    max_nodes = 2 * max_leaves - 1
    all_features = max_features >= len(candidates)
    keep_histograms = all_features and histograms.shape[0] >= max_leaves

    # Columns of `work`: weight, weighted residuals, weighted curvatures, weighted squared residual; rows in the order
    # of the nodes. Residuals are centred, so that sums lose no digits to a common level.
    work = np.empty((n_sample, 2 + 2 * n_outputs))
    spare = np.empty_like(work)
    rows = np.arange(n_sample)
    spare_rows = np.empty_like(rows)
    level = np.zeros(n_outputs)
    total_weight = 0.0
    for i in range(n_sample):
        total_weight += weights[i]
        for j in range(n_outputs):
            level[j] += weights[i] * residuals[i, j]
    if total_weight <= 0.0:
        total_weight = 1.0
    level /= total_weight
    for i in range(n_sample):
        w = weights[i]
        work[i, 0] = w
        square = 0.0
        for j in range(n_outputs):
            r = residuals[i, j] - level[j]
            work[i, 1 + j] = w * r
            work[i, n_sums + j] = w * curvatures[i, j]
            square += r * r
        work[i, n_sums + n_outputs] = w * square

    # With few features a split the pool's codes are read in place; otherwise each row is read so often that it pays
    # to bring the sample together.
    if all_features:
        near = np.empty((codes.shape[0], n_sample), dtype=np.uint8)
        for f in candidates:
            for i in range(n_sample):
                near[f, i] = codes[f, sample[i]]
    else:
        near = codes
        rows[:] = sample

    sums = np.zeros((max_nodes, work.shape[1]))
    gains = np.zeros(max_nodes)
    begins = np.zeros(max_nodes, dtype=np.int64)
    depths = np.zeros(max_nodes, dtype=np.int64)
    slots = np.zeros(max_nodes, dtype=np.int64)
    order = candidates.copy()
    cell_order = np.empty(257, dtype=np.int64)
    keys = np.empty(257)
    prefix = np.empty(n_outputs)
    trial = np.empty(256, dtype=np.uint8)
    tie = 0.0
    min_weight = 0.0

    n_nodes = 1
    n_leaves = 1
    n_rows[0] = n_sample
    features[0] = -1
    chosen = -1
    fresh = 0  # nodes from here on have no sums and no split yet
    while True:
        for node in range(fresh, n_nodes):
            for i in range(begins[node], begins[node] + n_rows[node]):
                for k in range(work.shape[1]):
                    sums[node, k] += work[i, k]
        if fresh == 0:
            # Gains within rounding of each other are ties, and within rounding of zero none.
            tie = 1e-11 * sums[0, n_sums + n_outputs]
            min_weight = 1e-13 * sums[0, 0]
        else:
            heavier = LEFT if sums[fresh, 0] >= sums[fresh + 1, 0] else RIGHT
            for code in range(256):
                if sides[chosen, code] == HEAVIER:
                    sides[chosen, code] = heavier
        if n_leaves == max_leaves:
            break

        n_open = 0
        for node in range(fresh, n_nodes):
            impurity = sums[node, n_sums + n_outputs]
            for j in range(n_outputs):
                impurity -= sums[node, 1 + j] ** 2 / max(sums[node, 0], 1e-300)
            enough = n_rows[node] >= 2 * min_rows and depths[node] < max_depth
            if enough and impurity > max(tie, min_impurity * sums[node, 0]):
                gains[node] = -1.0
                n_open += 1
        if keep_histograms and n_open > 0:
            # The new slot takes the smaller child; what is left of the parent's slot is the larger child.
            small = fresh
            if fresh > 0 and n_rows[fresh + 1] < n_rows[fresh]:
                small = fresh + 1
            slot = n_leaves - 1
            slots[small] = slot
            cells = histograms[slot]
            cells[:] = 0.0
            for f in candidates:
                _fill_cells(
                    near[f], rows, work, begins[small], begins[small] + n_rows[small], first_cells[f], n_bins[f], cells
                )
            if fresh > 0:
                slots[fresh + fresh + 1 - small] = slots[chosen]
                rest = histograms[slots[chosen]]
                for c in range(cells.shape[0]):
                    for k in range(cells.shape[1]):
                        rest[c, k] -= cells[c, k]

        for node in range(fresh, n_nodes):
            if gains[node] == 0.0:
                continue
            gain = 0.0
            cells = histograms[slots[node]]
            n_drawn = 0
            while n_drawn < len(order) and (n_drawn == 0 or gain == 0.0):
                # As scikit-learn: go on drawing while no feature drawn so far can be split.
                goal = n_drawn + 1 if n_drawn > 0 else min(max_features, len(order))
                if not all_features:
                    _draw_candidates(order, n_drawn, goal, state)
                for k in range(n_drawn, goal):
                    f = order[k]
                    first = first_cells[f]
                    if not keep_histograms:
                        cells[first : first + n_bins[f] + 1] = 0.0
                        _fill_cells(
                            near[f], rows, work, begins[node], begins[node] + n_rows[node], first, n_bins[f], cells
                        )
                    cut = -1
                    if n_categories[f] > 0:
                        better = _scan_categories(
                            cells, first, n_bins[f], n_rows[node], sums[node], min_rows, min_weight, gain, tie,
                            cell_order, prefix, keys, trial
                        )  # fmt: skip
                    else:
                        better, cut, side = _scan_numeric(
                            cells, first, n_bins[f], lows[f], highs[f], n_rows[node], sums[node], min_rows,
                            min_weight, gain, tie, cell_order, prefix
                        )  # fmt: skip
                        if better > gain:
                            trial[: cut + 1] = LEFT
                            trial[cut + 1 :] = RIGHT
                            trial[MISSING] = side
                    if better > gain:
                        gain = better
                        features[node] = f
                        cuts[node] = cut
                        sides[node] = trial
                        if has_missing[f] == 0:
                            sides[node, MISSING] = NEITHER
                n_drawn = goal
            gains[node] = gain

        chosen = -1
        for node in range(n_nodes):
            if gains[node] > 0.0 and (chosen < 0 or gains[node] > gains[chosen] + tie):
                chosen = node
        if chosen < 0:
            break
        gains[chosen] = 0.0
        begin = begins[chosen]
        end = begin + n_rows[chosen]
        middle = _partition(near[features[chosen]], rows, work, begin, end, sides[chosen], spare_rows, spare)
        children[chosen] = n_nodes
        fresh = n_nodes
        for node in range(fresh, fresh + 2):
            features[node] = -1
            depths[node] = depths[chosen] + 1
        begins[fresh], n_rows[fresh] = begin, middle - begin
        begins[fresh + 1], n_rows[fresh + 1] = middle, end - middle
        n_nodes += 2
        n_leaves += 1

    for node in range(n_nodes):
        if gains[node] > 0.0:
            features[node] = -1  # found, but the tree was full
        weight = max(sums[node, 0], 1e-300)
        for j in range(n_outputs):
            # A ramp is flat outside, a confident logistic nearly so: no Newton step there, but the mean residual.
            curvature = sums[node, n_sums + j] / weight
            values[node, j] = sums[node, 1 + j] / weight + level[j]
            if curvature > 1e-3:
                values[node, j] /= curvature
    return n_nodes


@njit(cache=True, nogil=True)
def add_tree(
    codes: ByteArray, n_nodes: int, features: Int32Array, children: Int32Array, cuts: Int32Array, sides: ByteArray,
    values: FloatArray, factor: float, scores: FloatArray
) -> None:  # fmt: skip
    """Add `factor` times the tree's values to the scores (n_rows, n_outputs) of the binned rows, in place."""
    n_rows, n_outputs = scores.shape
    places = np.empty(BLOCK_ROWS, dtype=np.int32)
    for begin in range(0, n_rows, BLOCK_ROWS):
        size = min(BLOCK_ROWS, n_rows - begin)
        places[:size] = 0
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


@njit(cache=True, nogil=True)
def find_nodes(
    block: FloatArray, roots: IntArray, features: Int32Array, thresholds: FloatArray, categorical: ByteArray,
    left_categories: Words, right_categories: Words, missing: ByteArray, left: Int32Array, right: Int32Array,
    places: Int32Array
) -> None:  # fmt: skip
    """Write into `places` (n_trees, n_rows) the node of each tree where each row of the block ends."""
    one = np.uint64(1)
    for tree in range(len(roots)):
        for i in range(block.shape[1]):
            node = roots[tree]
            while features[node] >= 0:
                x = block[features[node], i]
                side = NEITHER
                if np.isnan(x):
                    side = np.int64(missing[node])
                elif categorical[node] == 0:
                    side = LEFT if x <= thresholds[node] else RIGHT
                elif 0.0 <= x < 256.0:
                    code = np.int64(x)
                    bit = one << np.uint64(code & 63)
                    if left_categories[node, code >> 6] & bit:
                        side = LEFT
                    elif right_categories[node, code >> 6] & bit:
                        side = RIGHT
                if side == NEITHER:
                    break
                node = np.int64(left[node] if side == LEFT else right[node])
            places[tree, i] = node

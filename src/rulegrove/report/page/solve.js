// Weights given the terms, and what rows say of them that were held out: as rulegrove.editing has it, on lines of rows.

const MOST_STEPS = 100;
const SETTLED = 1e-15; // of the loss: a step that promises less is the last one
const LEAST_BEND = 1e-12; // of a term that follows from others: no step is infinite
const STRONG = 1e-12; // of a root of the loss: what pulls less at a weight of 0 leaves it there

// A term on the lines.

const knownColumns = new Map();

function columnOf(term) {
  if (term.conditions === undefined) return bench.lines.values[term.line];
  const key = `${term.origins.length} ${term.number} ${term.key}`;
  if (!knownColumns.has(key)) knownColumns.set(key, holdOnLines(term));
  return knownColumns.get(key);
}

// Lines that a list cannot tell apart are one; `columns` are the terms on them, `sums` by fold and by what is summed.
function poolLines(list) {
  const columns = list.map(columnOf);
  const places = new Int32Array(N_LINES);
  let count = 1;
  if (list.some((term) => term.conditions === undefined)) {
    places.forEach((_, line) => (places[line] = line));
    count = N_LINES;
  } else {
    for (const column of columns) {
      const values = new Map([...new Set(column)].map((value, k) => [value, k]));
      const fresh = new Int32Array(values.size * count).fill(-1);
      let next = 0;
      places.forEach((place, line) => {
        const part = values.size * place + values.get(column[line]);
        if (fresh[part] < 0) fresh[part] = next++;
        places[line] = fresh[part];
      });
      count = next;
    }
  }
  const pooled = [new Float64Array(count).fill(1), ...columns.map(() => new Float64Array(count))];
  const sums = bench.lines.sums.map((basis) => basis.map(() => new Float64Array(count)));
  places.forEach((place, line) => {
    columns.forEach((column, k) => (pooled[1 + k][place] = column[line]));
    bench.lines.sums.forEach((basis, fold) => basis.forEach((own, k) => (sums[fold][k][place] += own[line])));
  });
  return { count, columns: pooled, sums };
}

// The variance of each term over all rows; of a linear term it is known exactly.
function findVariances(list) {
  const weights = lineWeights();
  const total = weights.reduce((sum, own) => sum + own, 0);
  return list.map((term) => {
    if (term.conditions === undefined) return term.spread ** 2 || 1;
    const mean = columnOf(term).reduce((sum, value, line) => sum + weights[line] * value, 0) / total;
    return mean * (1 - mean) || 1;
  });
}

function lineWeights() {
  return Float64Array.from({ length: N_LINES }, (_, line) => bench.lines.sums.reduce((sum, basis) => sum + family.weigh(basis.map((own) => own[line])), 0));
}

// Weights of all rows, or without those of a fold, from weights that are near.
function solve(list, pooled, variances, fold, start) {
  const outputs = start.length;
  const used = [];
  for (let place = 0; place < pooled.count; place += 1) {
    const sums = pooled.sums[0].map((_, k) => pooled.sums.reduce((sum, own, part) => (part === fold ? sum : sum + own[k][place]), 0));
    const weight = family.weigh(sums);
    if (weight > 0) used.push({ place, weight, goals: family.goals(sums, weight) });
  }
  const total = used.reduce((sum, own) => sum + own.weight, 0);
  const weights = Float64Array.from(used, (own) => own.weight / total);
  const columns = pooled.columns.map((column) => Float64Array.from(used, (own) => column[own.place]));
  const ridges = [0, ...variances.map((own) => bench.ridge * own)];
  const free = [];
  for (let output = 0; output < outputs; output += 1) {
    columns.forEach((_, column) => {
      if (column === 0 || list[column - 1].free[output]) free.push({ output, column });
    });
  }
  const scoresOf = (coefs) =>
    used.map((_, line) => coefs.map((own) => columns.reduce((sum, column, k) => (own[k] === 0 ? sum : sum + own[k] * column[line]), 0)));
  const lossOf = (coefs, scores) =>
    scores.reduce((sum, own, line) => sum + weights[line] * family.lose(own, used[line].goals), 0) +
    0.5 * free.reduce((sum, { output, column }) => sum + ridges[column] * coefs[output][column] ** 2, 0);
  const signs = free.map(({ column }) => (column === 0 ? 0 : signOf(list[column - 1])));
  const bounded = signs.some((sign) => sign !== 0);
  let coefs = start.map((own) => [...own]);
  free.forEach(({ output, column }, k) => {
    if (signs[k] * coefs[output][column] < 0) coefs[output][column] = 0;
  });
  let scores = scoresOf(coefs);
  let loss = lossOf(coefs, scores);
  for (let count = 0; count < MOST_STEPS; count += 1) {
    const slopes = scores.map((own, line) => family.slope(own, used[line].goals));
    const slope = free.map(({ output, column }) => {
      const values = columns[column];
      let sum = ridges[column] * coefs[output][column];
      for (let line = 0; line < used.length; line += 1) sum += weights[line] * slopes[line][output] * values[line];
      return sum;
    });
    const bends = scores.map((own, line) => family.bend(own, used[line].goals));
    const curved = curve(columns, weights, bends, free, ridges, outputs);
    const here = free.map(({ output, column }) => coefs[output][column]);
    const step = bounded ? stepWithin(curved, slope, here, signs) : solvePositive(curved, slope);
    const promised = step.reduce((sum, own, k) => sum + own * slope[k], 0);
    const move = (size) => {
      const moved = coefs.map((own) => [...own]);
      free.forEach(({ output, column }, k) => (moved[output][column] -= size * step[k]));
      return moved;
    };
    if (promised <= SETTLED * Math.max(Math.abs(loss), 1e-3)) return move(1);
    let [size, found] = [1, null];
    while (found === null && size > 1e-9) {
      const moved = move(size);
      const there = scoresOf(moved);
      const after = lossOf(moved, there);
      if (after <= loss - 1e-4 * size * promised) found = { moved, there, after };
      else size /= 2;
    }
    if (found === null) break; // rounding allows no further progress
    [coefs, scores, loss] = [found.moved, found.there, found.after];
  }
  return coefs;
}

// The second derivatives of the loss in the free weights.
function curve(columns, weights, bends, free, ridges, outputs) {
  const size = free.length;
  const curved = Array.from({ length: size }, () => new Float64Array(size));
  const pulled = new Float64Array(weights.length);
  for (let one = 0; one < size; one += 1) {
    const values = columns[free[one].column];
    for (let output = 0; output <= free[one].output; output += 1) {
      for (let line = 0; line < pulled.length; line += 1) pulled[line] = weights[line] * bends[line][free[one].output][output] * values[line];
      for (let other = 0; other <= one; other += 1) {
        if (free[other].output !== output) continue;
        const others = columns[free[other].column];
        let sum = 0;
        for (let line = 0; line < pulled.length; line += 1) sum += pulled[line] * others[line];
        if (outputs > 1 && free[one].column === 0 && free[other].column === 0) sum += 1; // a constant that all share
        curved[one][other] = sum;
        curved[other][one] = sum;
      }
    }
    curved[one][one] += ridges[free[one].column] + LEAST_BEND;
  }
  return curved;
}

// Which sign the weight of a term must have by the directions of its attributes; 0 for either.
function signOf(term) {
  if (term.conditions === undefined) return bench.directions[term.linear.feature];
  const ways = term.conditions.map((own) =>
    own.categories !== undefined || own.never ? 0 : bench.directions[own.feature] * (Number(own.low !== null) - Number(own.high !== null)),
  );
  return Math.sign(ways.reduce((sum, way) => sum + way, 0));
}

// The step to the least value of the same parabola where weights keep their signs: those that would not are 0, and one
// after the other is set free by which the value falls.
function stepWithin(curved, slope, here, signs) {
  const held = here.map((own, k) => signs[k] !== 0 && own === 0);
  let there = [...here];
  for (let count = 0; count < MOST_STEPS * here.length; count += 1) {
    const open = here.flatMap((_, k) => (held[k] ? [] : [k]));
    const right = open.map((k) => here.reduce((sum, own, other) => (held[other] ? sum - curved[k][other] * own : sum), slope[k]));
    const found = solvePositive(open.map((k) => Float64Array.from(open, (other) => curved[k][other])), right);
    const wanted = here.map(() => 0);
    open.forEach((k, place) => (wanted[k] = here[k] - found[place]));
    const shares = open.map((k) => (signs[k] * wanted[k] < 0 ? there[k] / (there[k] - wanted[k]) : 1));
    const share = Math.min(1, ...shares);
    there = there.map((own, k) => own + share * (wanted[k] - own));
    open.forEach((k, place) => {
      if (signs[k] * wanted[k] < 0 && shares[place] === share) [there[k], held[k]] = [0, true];
    });
    if (share < 1) continue;
    const pulls = here.map((_, k) => (held[k] ? signs[k] * there.reduce((sum, own, other) => sum + curved[k][other] * (own - here[other]), slope[k]) : 0));
    const sizes = pulls.map((pull, k) => pull / Math.sqrt(curved[k][k]));
    const least = Math.min(...sizes);
    if (least > -STRONG) break;
    held[sizes.indexOf(least)] = false;
  }
  return here.map((own, k) => own - there[k]);
}

// The solution of a system whose matrix is symmetric and positive, by Cholesky.
function solvePositive(matrix, right) {
  const size = right.length;
  const root = matrix.map(() => new Float64Array(size));
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column <= row; column += 1) {
      let sum = matrix[row][column];
      for (let k = 0; k < column; k += 1) sum -= root[row][k] * root[column][k];
      root[row][column] = row === column ? Math.sqrt(Math.max(sum, Number.MIN_VALUE)) : sum / root[column][column];
    }
  }
  const found = Float64Array.from(right);
  for (let row = 0; row < size; row += 1) {
    for (let k = 0; k < row; k += 1) found[row] -= root[row][k] * found[k];
    found[row] /= root[row][row];
  }
  for (let row = size - 1; row >= 0; row -= 1) {
    for (let k = row + 1; k < size; k += 1) found[row] -= root[k][row] * found[k];
    found[row] /= root[row][row];
  }
  return Array.from(found);
}

// A list with its weights, of all rows first and then without each fold, and what they say of each line.

function solveList(list, before) {
  const pooled = poolLines(list);
  const variances = findVariances(list);
  const near = new Map(before.list.map((term, place) => [term.number, 1 + place]));
  const startOf = (part) =>
    before.solved[part].map((own) => [own[0], ...list.map((term) => (near.has(term.number) ? own[near.get(term.number)] : 0))]);
  const solved = before.solved.map((_, part) => solve(list, pooled, variances, part - 1, startOf(part)));
  return describeSolved(list, solved, variances);
}

function describeSolved(list, solved, variances = findVariances(list)) {
  const found = { list, solved, variances, told: tellLines(list, solved) };
  found.means = { error: meanOf(found, "error"), loss: meanOf(found, "loss") };
  return found;
}

// The scores of each line, by the weights of each output.
function scoreLines(list, coefs) {
  const columns = list.map(columnOf);
  return Array.from({ length: N_LINES }, (_, line) => coefs.map((own) => columns.reduce((sum, column, k) => sum + own[1 + k] * column[line], own[0])));
}

// Of each fold and line the loss and the error of rows that are held out, by weights that have not seen them.
function tellLines(list, solved) {
  return solved.slice(1).map((coefs) => scoreLines(list, coefs).map((scores) => ({ scores, ...family.tell(scores) })));
}

// A sum over all lines of the rows that each fold holds out; `add` is given the fold, the line and what is summed of it.
function overLines(sums, add) {
  let total = 0;
  for (let fold = 0; fold < bench.n_folds; fold += 1) {
    for (let line = 0; line < N_LINES; line += 1) total += add(fold, line, sums[fold].map((own) => own[line]));
  }
  return total;
}

const heldOutWeight = bench === null ? 0 : overLines(bench.lines.sums, (fold, line, sums) => family.weigh(sums));

function meanOf(found, name) {
  return overLines(bench.lines.sums, (fold, line, sums) => sums.reduce((sum, own, k) => sum + own * found.told[fold][line][name][k], 0)) / heldOutWeight + bench.beside;
}

// Error and loss of a list, in the units of the user; the spread of a single mean is kept on the page of classes alone.
function costOf(found) {
  const [error, loss] = ["error", "loss"].map((name) => found.means[name] * bench.loss_unit);
  if (report.classes === null) return { error: bench.family === "number" ? Math.sqrt(Math.max(error, 0)) : error, error_se: null, loss, loss_se: null };
  const spread = (name, mean) => spreadOf((fold, line, k) => found.told[fold][line][name][k] - mean);
  return { error, error_se: spread("error", error), loss, loss_se: spread("loss", loss) };
}

// The standard error of a mean over rows, from what each row of a class has beyond it.
function spreadOf(beyond) {
  const products = bench.lines.products || bench.lines.sums;
  return Math.sqrt(overLines(products, (fold, line, own) => own.reduce((sum, weight, k) => sum + weight * beyond(fold, line, k) ** 2, 0))) / heldOutWeight;
}

// What one list loses more than another, row by row, with standard errors of these differences.
function compareCosts(before, after) {
  const [first, last] = [costOf(before), costOf(after)];
  const found = { error: last.error - first.error, loss: last.loss - first.loss };
  for (const name of ["error", "loss"]) {
    const mean = after.means[name] - before.means[name];
    const apart = (fold, line, k) => after.told[fold][line][name][k] - before.told[fold][line][name][k];
    if (report.classes !== null) found[`${name}_se`] = spreadOf((fold, line, k) => apart(fold, line, k) - mean);
    else {
      const products = bench.lines.products || bench.lines.sums;
      const squares = overLines(products, (fold, line, [square, one, own]) => {
        const [level, tilt] = [apart(fold, line, 1) - mean, apart(fold, line, 2)];
        return one * level ** 2 + 2 * own * level * tilt + square * tilt ** 2;
      });
      found[`${name}_se`] = (Math.sqrt(Math.max(squares, 0)) / heldOutWeight) * bench.loss_unit;
    }
  }
  if (bench.family === "number") found.error_se /= first.error + last.error || 1;
  return { ...found, n_otherwise: countOtherwise(before, after), n_rows: bench.n_rows };
}

// Rows that are predicted otherwise.
function countOtherwise(before, after) {
  const [first, last] = [before, after].map((own) => scoreLines(own.list, own.solved[0]));
  const differ = family.differ || ((one, other) => family.choose(one) !== family.choose(other));
  return bench.lines.counts.reduce((sum, count, line) => (differ(first[line], last[line]) ? sum + count : sum), 0);
}

// The edited list as the page shows lists: what rows on lines say of it stands in the place of what Python has computed.

const MOST_BINS = 10;
const WILSON = 1.96 ** 2;
const BASED_ON = "the rows of the workbench, held out of the weights";

const madeTerms = new Map(); // terms that no fitted list has, by what they say; the place of each among all terms
const rulesMade = new Map(); // the same by their places

function placeOfTerm(term, about) {
  if (term.place !== null) return term.place;
  if (!madeTerms.has(term.key)) {
    const place = terms.texts.length;
    madeTerms.set(term.key, place);
    rulesMade.set(place, term);
    terms.texts.push(tellTerm(term));
    terms.features.push(term.conditions.map((own) => own.feature));
  }
  const place = madeTerms.get(term.key);
  terms.supports[place] = about.support;
  terms.spreads[place] = Math.sqrt(about.variance);
  terms.means.forEach((own, output) => (own[place] = about.means[output]));
  return place;
}

// What rows say of a term: its share of them, and of each class, or the mean target, where it holds.
function describeHeld(term, variance) {
  const column = columnOf(term);
  const sums = bench.lines.sums[0].map((_, k) =>
    bench.lines.sums.reduce((total, basis) => total + basis[k].reduce((sum, own, line) => sum + own * column[line], 0), 0),
  );
  const weights = lineWeights();
  const weight = family.weigh(sums);
  const shares = report.classes === null ? [bench.center + (bench.scale * sums[2]) / weight] : sums.map((own) => own / weight);
  return { variance, support: weight / weights.reduce((sum, own) => sum + own, 0), shares, means: bench.family === "two" ? [shares[1]] : shares };
}

function describeEdited(found) {
  const weights = giveBack(found.solved[0]);
  const about = found.list.map((term, k) => (term.conditions === undefined ? null : describeHeld(term, found.variances[k])));
  const places = found.list.map((term, k) => placeOfTerm(term, about[k]));
  const attributes = new Set(found.list.flatMap((term) => terms.features[term.place === null ? madeTerms.get(term.key) : term.place]));
  const cost = costOf(found);
  const rules = found.list.filter((term) => term.conditions !== undefined).length;
  const linear = found.list.length - rules;
  return {
    figures: [
      [grouped(found.list.length), "terms"],
      [grouped(attributes.size), "attributes"],
      ...MEASURES.map(([name, words]) => [showCost(name, cost[name]), `${words}, with the terms given`]),
    ],
    about: `The list as you have changed it: ${plural(rules, "rule")} and ${plural(linear, "linear term")}.`,
    outputs: weights.map((own, output) => describeOutput(found, own, output, places, weights)),
    check: describeCheck(found, cost),
    tenths: null,
    importance_bands: null,
    dependence: describeDependence(found, weights),
    predicted: null,
    probabilities: report.classes === null ? null : report.rows.numbers.map((_, row) => family.share(scoresOfRow(found.list, weights, row))),
  };
}

function describeOutput(found, own, output, places, weights) {
  const used = places.flatMap((_, k) => (own[1 + k] === 0 ? [] : [k]));
  return {
    terms: used.map((k) => places[k]),
    coefs: used.map((k) => own[1 + k]),
    intercept: own[0],
    importances: null,
    changes: report.base_rates === null ? null : [0, 1].map((end) => used.map((k) => followTerm(found.list[k], k, weights, output)[end])),
    returns: null,
  };
}

// The probability of a class without a rule and with it, or at either end of a line.
function followTerm(term, k, weights, output) {
  const ends = term.conditions === undefined ? [term.linear.lower - term.linear.fill, term.linear.upper - term.linear.fill] : [0, 1];
  const rates = report.base_rates.map((rate) => Math.min(Math.max(rate, 1e-9), 1 - 1e-9));
  const start = bench.family === "two" ? [Math.log(rates[0] / (1 - rates[0]))] : rates.map(Math.log);
  const shares = ends.map((end) => family.share(start.map((score, own) => score + end * weights[own][1 + k])));
  return shares.map((share) => share[bench.family === "two" ? 1 : output]);
}

function scoresOfRow(list, weights, row) {
  const values = list.map((term) => (term.place === null ? holdsOn(term, shownCodes, row) : valueOf(term.place, row)));
  return weights.map((own) => values.reduce((sum, value, k) => sum + own[1 + k] * value, own[0]));
}

// Figures and charts of rows that were held out of the weights.

function describeCheck(found, cost) {
  const fitted = costOf(workbench.base);
  return {
    about:
      `Figures and charts are about ${BASED_ON}: each row was predicted by weights that were solved for without its fold. ` +
      (report.classes === null ? "Predicted against observed is not drawn for an edited list." : ""),
    table: {
      heads: ["", "Edited list", "Fitted list, its weights solved for again"],
      lines: MEASURES.map(([name, words]) => [capitalised(words), showCost(name, cost[name]), showCost(name, fitted[name])]),
    },
    charts: report.classes === null ? null : describeCharts(found),
  };
}

// The cells of folds and lines with what they predict of each class.
function listCells(found) {
  return found.told.flatMap((lines, fold) =>
    lines.flatMap((own, line) => {
      const sums = bench.lines.sums[fold].map((one) => one[line]);
      return family.weigh(sums) > 0 ? [{ sums, said: family.choose(own.scores), shares: family.share(own.scores) }] : [];
    }),
  );
}

function describeCharts(found) {
  const cells = listCells(found);
  const counts = report.classes.map((_, truth) => report.classes.map((__, said) => cells.reduce((sum, cell) => (cell.said === said ? sum + cell.sums[truth] : sum), 0)));
  const classes = bench.family === "two" ? [1] : report.classes.map((_, place) => place);
  const sorted = (place) => [...cells].sort((one, other) => one.shares[place] - other.shares[place]);
  return {
    rows: BASED_ON,
    counts: counts.map((own) => own.map(Math.round)),
    calibration: classes.map((place) => binCells(sorted(place), place)),
    roc: classes.map((place) => traceRoc(sorted(place).reverse(), place)),
  };
}

function binCells(cells, place) {
  const total = cells.reduce((sum, cell) => sum + family.weigh(cell.sums), 0);
  const bins = [];
  let [passed, open] = [0, null];
  for (const cell of cells) {
    const weight = family.weigh(cell.sums);
    const bin = Math.min(Math.floor((MOST_BINS * (passed + weight / 2)) / total), MOST_BINS - 1);
    if (open === null || (open.bin !== bin && open.last !== cell.shares[place])) {
      open = { bin, size: 0, came: 0, share: 0 };
      bins.push(open);
    }
    open.size += weight;
    open.came += cell.sums[place];
    open.share += weight * cell.shares[place];
    open.last = cell.shares[place];
    passed += weight;
  }
  const ends = bins.map(({ came, size }) => encloseShare(came / size, size));
  return {
    predicted: bins.map((own) => own.share / own.size),
    observed: bins.map((own) => own.came / own.size),
    low: ends.map((own) => own[0]),
    high: ends.map((own) => own[1]),
    sizes: bins.map((own) => Math.round(own.size)),
  };
}

// Wilson's interval.
function encloseShare(share, size) {
  const squared = WILSON / size;
  const half = Math.sqrt(squared * share * (1 - share) + squared ** 2 / 4) / (1 + squared);
  const center = (share + squared / 2) / (1 + squared);
  return [Math.max(center - half, 0), Math.min(center + half, 1)];
}

function traceRoc(cells, place) {
  const [right, wrong] = [[0], [0]];
  let [found, mistaken, area] = [0, 0, 0];
  cells.forEach((cell, k) => {
    const before = [wrong[wrong.length - 1], right[right.length - 1]];
    found += cell.sums[place];
    mistaken += family.weigh(cell.sums) - cell.sums[place];
    if (k + 1 < cells.length && cells[k + 1].shares[place] === cell.shares[place]) return;
    wrong.push(mistaken);
    right.push(found);
    area += ((mistaken - before[0]) * (found + before[1])) / 2;
  });
  if (!found || !mistaken) return { wrong: [], right: [], area: null };
  return { wrong: wrong.map((own) => own / mistaken), right: right.map((own) => own / found), area: area / (found * mistaken) };
}

// Partial dependence: a rule adds its weight where its own condition on the attribute holds, times the share of rows on
// which its others do.

function describeDependence(found, weights) {
  const curves = report.lines[front === null ? 0 : front.chosen].dependence;
  return curves === null ? null : curves.filter((curve) => !curve.categories).map((curve) => traceCurve(curve, found.list, weights));
}

function traceCurve(curve, list, weights) {
  const column = bench.columns.findIndex((one) => one.feature === curve.feature && one.cuts !== undefined);
  const cuts = column < 0 ? [] : bench.columns[column].cuts;
  const [first, last] = [curve.grid[0], curve.grid[curve.grid.length - 1]];
  const near = (last - first) / 1e4; // a step is drawn as one
  const grid = [...new Set([...curve.grid, ...cuts.flatMap((cut) => [cut, cut + near])])].filter((point) => point >= first && point <= last);
  grid.sort((one, other) => one - other);
  const parts = list.map((term) => traceTerm(term, curve.feature, grid, cuts, column));
  const scores = weights.map((own) => grid.map((_, point) => parts.reduce((sum, part, k) => sum + own[1 + k] * part[point], own[0])));
  const values = report.words.multiplies ? scores.map((own) => own.map(Math.exp)) : scores;
  return { ...curve, grid, values, band: null };
}

// The mean of a term over the rows, were the attribute the same in all of them.
function traceTerm(term, feature, grid, cuts, column) {
  const meanOver = (valueAt) => bench.lines.counts.reduce((sum, count, line) => sum + count * valueAt(line), 0) / bench.n_rows;
  if (term.conditions === undefined) {
    if (term.linear.feature === feature) return grid.map((point) => Math.min(Math.max(point, term.linear.lower), term.linear.upper));
    return new Array(grid.length).fill(meanOver((line) => columnOf(term)[line]));
  }
  const own = term.conditions.find((one) => one.feature === feature);
  if (own === undefined) return new Array(grid.length).fill(meanOver((line) => columnOf(term)[line]));
  const others = { ...term, conditions: term.conditions.filter((one) => one !== own) };
  const share = meanOver((line) => holdsOn(others, lineCodes, line));
  const codes = bench.columns.map(() => [0]);
  return grid.map((point) => {
    codes[column][0] = 1 + cuts.filter((cut) => cut < point).length;
    return satisfies(own, codes, 0) ? share : 0;
  });
}

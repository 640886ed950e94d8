// What the page knows and what the reader has chosen.

const report = JSON.parse(byId("data").textContent);
const terms = report.terms;

const state = {
  output: report.words.main,
  line: report.front === null ? 0 : report.front.chosen,
  sort: { key: "importance", down: true },
  text: "",
  attribute: -1,
  allRules: false,
  row: 0,
  edited: null, // what the page shows of the list as it was changed
};

// The model that is shown, and its part for the class that is looked at.
function currentLine() {
  return state.edited === null ? report.lines[state.line] : state.edited;
}

function currentOutput() {
  return currentLine().outputs[state.output];
}

// The terms of the model that is shown, the most important first, with all that the table tells.
function termsShown() {
  const shown = currentOutput();
  const found = shown.terms.map((term, place) => ({
    ...describeTerm(term, shown.coefs[place], shown.changes === null ? null : shown.changes.map((ends) => ends[place])),
    ...(shown.importances === null ? {} : { importance: shown.importances[place] }),
    returns: shown.returns === null ? null : shown.returns[place],
  }));
  found.sort((one, other) => other.importance - one.importance);
  found.forEach((entry, place) => {
    entry.rank = place + 1;
  });
  return found;
}

function describeTerm(term, coef, change) {
  const mean = terms.means[state.output][term];
  const importance = Math.abs(coef) * terms.spreads[term];
  const entry = { term, coefficient: coef, importance, text: terms.texts[term], support: terms.supports[term] };
  if (report.classes === null) return { ...entry, mean, effect: coef * spanOf(term) };
  const name = report.outputs[state.output];
  const other = report.classes.length === 2 ? report.classes[0] : "not " + name;
  entry.speaks = coef > 0 ? name : other;
  const rate = report.base_rates === null ? null : report.base_rates[state.output];
  entry.confidence = mean === null ? null : coef > 0 ? mean : 1 - mean;
  entry.base = rate === null ? null : coef > 0 ? rate : 1 - rate;
  entry.change = change === null ? null : change.map((share) => (coef > 0 ? share : 1 - share));
  entry.probability = change === null ? null : entry.change[1];
  return entry;
}

// From one end of a linear term to the other; of a rule from where it does not hold to where it does.
function spanOf(term) {
  const line = terms.lines[term];
  return line === undefined ? 1 : line[1] - line[0];
}

// Whose score the tables tell of, in words.
function scoreName() {
  return report.classes === null ? report.words.names[state.output] : `score of class ${report.outputs[state.output]}`;
}

// The same within a sentence: "the rate", "the 90 % quantile", or the name of a number.
function scoreReference() {
  return report.classes === null ? report.words.references[state.output] : `the ${scoreName()}`;
}

// What its mean over rows is called.
function meanName() {
  if (report.words.multiplies) return `Predicted ${scoreName()} (geometric mean)`;
  return report.classes === null && scoreName() !== "prediction" ? `Mean predicted ${scoreName()}` : `Mean ${scoreName()}`;
}

// A factor in words.
function times(logarithm, digits = 3) {
  return "x " + show(Math.exp(logarithm), digits);
}

function aboutGiven() {
  return report.n_given === null ? "" : `on the ${countGiven(report.n_given)}`;
}

// So many of the rows that the page was made with, called what they are.
function countGiven(count) {
  return `${grouped(count)} ${count === 1 ? report.given_name.replace("rows", "row") : report.given_name}`;
}

// Single rows: which terms hold, what each adds, and what the model that is shown says.

const MANY_TERMS = 15;
const ROW_LETTERS = 160; // of a rule

function decodeBits(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

const bits = report.rows === null ? [] : report.rows.bits.map(decodeBits);

function valueOf(term, row) {
  const line = terms.lines[term];
  if (rulesMade.has(term)) return holdsOn(rulesMade.get(term), shownCodes, row);
  if (line === undefined) return (bits[row][term >> 3] >> (term & 7)) & 1;
  const [lower, upper, missing] = line;
  const value = report.rows.values[row][report.rows.features.indexOf(terms.features[term][0])];
  return value === null ? missing : Math.min(Math.max(value, lower), upper);
}

function partsOf(row, output) {
  const shown = currentLine().outputs[output];
  const parts = shown.terms.map((term, place) => ({ term, part: shown.coefs[place] * valueOf(term, row) }));
  return parts.filter((one) => one.part !== 0).sort((one, other) => Math.abs(other.part) - Math.abs(one.part));
}

function scoreOf(row, output) {
  return partsOf(row, output).reduce((sum, one) => sum + one.part, currentLine().outputs[output].intercept);
}

function predictedClass(row) {
  const scores = report.outputs.map((_, output) => scoreOf(row, output));
  return scores.length === 1 ? Number(scores[0] > 0) : scores.indexOf(Math.max(...scores));
}

function tellRow(row) {
  const rows = report.rows;
  const truth = rows.truths === null ? null : rows.truths[row];
  const score = scoreOf(row, state.output);
  if (report.classes === null) {
    const name = scoreName() === "prediction" ? "" : ` (${scoreName()})`;
    return `Predicted ${showScore(score)}${name}${truth === null ? "" : `, observed ${showTruth(truth)}`}.`;
  }
  const found = predictedClass(row);
  const words = [`Predicted ${report.classes[found]}`];
  if (truth !== null) words.push(truth === found ? ", which is right" : `, but it is ${report.classes[truth]}`);
  const shares = currentLine().probabilities[row];
  words.push(`. The ${scoreName()} is ${signed(score, 5)}, its probability ${percent(shares[shares.length === 2 ? 1 : state.output])}.`);
  return words.join("");
}

// What a score predicts, and what came true.
function showScore(score) {
  return show(report.words.multiplies ? Math.exp(score) : score, 5);
}

function showTruth(truth) {
  const own = Array.isArray(truth) ? truth[state.output] : truth;
  return typeof own === "string" ? own : show(own, 5);
}

// What a part does to the prediction: it adds to it, or multiplies it.
function tellPart(part) {
  return report.words.multiplies ? times(part, 4) : signed(part);
}

function listParts(row) {
  const parts = partsOf(row, state.output);
  const shown = parts.slice(0, MANY_TERMS);
  const rest = parts.slice(MANY_TERMS).reduce((sum, one) => sum + one.part, 0);
  const intercept = currentOutput().intercept;
  const largest = Math.max(...shown.map((one) => Math.abs(one.part)), 0);
  const rows = shown.map((one) => [brief(terms.texts[one.term], ROW_LETTERS), bar(one.part, largest, true), tellPart(one.part)]);
  if (parts.length > MANY_TERMS) rows.push([plural(parts.length - MANY_TERMS, "smaller part"), "", tellPart(rest)]);
  const score = scoreOf(row, state.output);
  if (report.words.multiplies) {
    rows.push(["to start from", "", showScore(intercept)]);
    rows.push([element("strong", {}, `product: ${scoreReference()}`), "", element("strong", {}, showScore(score))]);
    return table(["Term that holds", "Part", "Multiplies by"], rows, { class: "bars" });
  }
  rows.push(["intercept", "", signed(intercept)]);
  rows.push([element("strong", {}, `sum: ${report.classes === null ? scoreReference() : "the score"}`), "", element("strong", {}, signed(score, 5))]);
  return table(["Term that holds", "Part", "Adds"], rows, { class: "bars" });
}

function listValues(row) {
  const rows = report.rows;
  const used = new Set(partsOf(row, state.output).flatMap((one) => terms.features[one.term]));
  const cells = rows.features.map((feature, k) => {
    const value = rows.values[row][k];
    const text = value === null ? "missing" : typeof value === "number" ? show(value, 6) : brief(value, 60);
    return [used.has(feature) ? element("strong", {}, report.features[feature]) : report.features[feature], text];
  });
  return table(["Attribute", "Value"], cells);
}

function labelRow(row) {
  const rows = report.rows;
  const words = [`Row ${grouped(rows.numbers[row])}`];
  if (rows.truths === null) return words[0];
  const truth = rows.truths[row];
  if (report.classes === null) words.push(typeof truth === "string" ? truth : `observed ${showTruth(truth)}`);
  else words.push(clipped(report.classes[truth], 40) + (predictedClass(row) === truth ? "" : " (predicted wrongly)"));
  return words.join(": ");
}

function labelRows() {
  const choice = byId("row");
  report.rows.numbers.forEach((_, row) => {
    choice.options[row].textContent = labelRow(row);
  });
}

function showRow() {
  if (report.rows === null || !report.rows.numbers.length) return;
  byId("row").value = state.row;
  byId("row-words").textContent = tellRow(state.row);
  byId("row-terms").replaceChildren(listParts(state.row));
  byId("row-values").replaceChildren(listValues(state.row));
  byId("row-before").disabled = state.row === 0;
  byId("row-after").disabled = state.row === report.rows.numbers.length - 1;
}

function startRows() {
  const rows = report.rows;
  byId("rows-parts").hidden = rows === null;
  if (rows === null) {
    byId("rows-about").textContent = NO_ROWS;
    return;
  }
  const drawn = rows.numbers.length < rows.n_given ? `${plural(rows.numbers.length, "row")} drawn at random from the ${countGiven(rows.n_given)}` : `the ${countGiven(rows.n_given)}`;
  byId("rows-about").textContent =
    `Why the model says what it says, for ${drawn} (row 0 is the first). Only attributes that rules use are listed; those in bold contribute to the ${report.classes === null ? "prediction" : "score"}.`;
  byId("row").replaceChildren(...rows.numbers.map((_, row) => element("option", { value: row }, labelRow(row))));
  byId("row").addEventListener("change", (event) => chooseRow(Number(event.target.value)));
  byId("row-before").addEventListener("click", () => chooseRow(state.row - 1));
  byId("row-after").addEventListener("click", () => chooseRow(state.row + 1));
}

function chooseRow(row) {
  state.row = Math.min(Math.max(row, 0), report.rows.numbers.length - 1);
  showRow();
}

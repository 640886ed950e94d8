// The edited list as a model file, and its edits as a script.

const MOST_MOVES = 5;
const STILL = 1e-6; // of a standard deviation of the score: a weight that moves less has not moved

// Steps with the notes and the name that stand on the page now.
function annotated(steps) {
  return steps.map((step) => {
    const number = step.operation === "merge" ? step.first : step.number;
    const note = (workbench.notes.get(number) || "").trim();
    const author = byId("bench-author").value.trim();
    return { ...step, ...(note && { note }), ...(author && { author }) };
  });
}

function writeScript() {
  return `${JSON.stringify(annotated(workbench.steps).map(writeStep), null, 2)}\n`;
}

function quoted(word) {
  return /^[\w.+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function writeCommand() {
  const asked = Object.entries(bench.columns_asked).map(([option, name]) => `${option} ${quoted(name)}`);
  return `rulegrove edit model.json --script edits.json --data table.csv ${asked.join(" ")} -o edited.json`;
}

// Figures as a model file has them; what is not known is not a number.
function writeFigures(figures) {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, value === null ? "nan" : value]));
}

function writeLog() {
  const time = `${new Date().toISOString().slice(0, 19)}+00:00`;
  const about = { time, error_name: bench.error_name, loss_name: bench.loss_name, honest: bench.honest };
  const step = { operation: "open", rows: bench.n_rows, folds: bench.n_folds, ridge: bench.ridge };
  const words = `Opened in a report on ${plural(bench.n_rows, "row")} in ${plural(N_LINES, "line")}, in ${bench.n_folds} folds, with a ridge of ${bench.ridge}`;
  const log = [{ step, words, ...about, before: null, after: writeFigures(costOf(workbench.base)), change: null, moved: [] }];
  let before = workbench.base;
  for (const own of annotated(workbench.steps)) {
    const after = solveList(takeStep(before.list, own), before);
    log.push({
      step: writeStep(own),
      words: tellStep(before.list, own),
      ...about,
      before: writeFigures(costOf(before)),
      after: writeFigures(costOf(after)),
      change: compareCosts(before, after),
      moved: findMoves(before, after),
    });
    before = after;
  }
  return log;
}

function findMoves(before, after) {
  const [first, last] = [before, after].map((own) => giveBack(own.solved[0]));
  const moves = after.list.flatMap((term, k) => {
    const place = before.list.findIndex((own) => own.number === term.number);
    if (place < 0) return [];
    return last.map((own, output) => {
      const name = last.length > 1 ? report.classes[output] : "";
      const move = { number: term.number, output: name, before: first[output][1 + place], after: own[1 + k] };
      return { move, size: Math.abs(move.after - move.before) * Math.sqrt(after.variances[k]) };
    });
  });
  return moves.filter((own) => own.size > STILL * UNIT).sort((one, other) => other.size - one.size).slice(0, MOST_MOVES).map((own) => own.move);
}

function writeTerms(found) {
  const weights = giveBack(found.solved[0]);
  const written = found.list.map((term, k) => {
    const coefs = weights.map((own) => own[1 + k]);
    const importance = coefs.reduce((sum, own) => sum + Math.abs(own), 0) * Math.sqrt(found.variances[k]);
    if (term.conditions === undefined) return { linear: term.linear, coefs, importance };
    const about = describeHeld(term, found.variances[k]);
    const told = report.classes === null ? { mean_target: about.shares[0] } : { shares: about.shares };
    return { conditions: term.conditions.map(writeCondition), coefs, importance, support: about.support, ...told };
  });
  return written.filter((own) => own.coefs.some((coef) => coef !== 0)).sort((one, other) => other.importance - one.importance);
}

// The model file: that of the fitted list, with the edited one in its place.
async function writeModel() {
  const [packed] = unpack([bench.template]);
  const document = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  const found = workbench.now;
  return JSON.stringify({
    ...document,
    intercepts: giveBack(found.solved[0]).map((own) => own[0]),
    terms: writeTerms(found),
    edits: [...document.edits, ...writeLog()],
  });
}

function saveText(name, text) {
  const link = element("a", { download: name, href: URL.createObjectURL(new Blob([text], { type: "application/json" })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

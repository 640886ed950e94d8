// The workbench: rules are switched off, thresholds dragged, rules merged; weights and figures follow.

const LATER = 150; // milliseconds after which the rest of the page follows
const FAR = 0.2; // of the loss

const workbench = {
  steps: [], // from the fitted list to the one that is shown; notes, by the numbers of terms, are put to them in the end
  done: [], // earlier steps, to go back to
  undone: [], // later ones
  base: null, // the fitted list, solved for on the lines
  now: null, // the list that is shown
  notes: new Map(),
  costs: new Map(), // of dropping each term
  dragged: null, // the slider that is being dragged: all of it is one step
};
let [followLater, costLater] = [0, 0];

function showCost(name, value) {
  return name === "error" && bench.error_is_share ? percent(value) : show(value);
}

function showDifference(name, value, spread) {
  const factor = name === "error" && bench.error_is_share ? 100 : 1;
  const unit = factor === 100 ? " points" : "";
  return `${signed(factor * value, 2)} ± ${show(factor * spread, 2)}${unit}`;
}

// Steps: each is one operation of the script; what is taken back is no longer there.

function switchRule(number, on) {
  const { steps } = workbench;
  return change(on ? steps.filter((step) => step.operation !== "drop" || step.number !== number) : [...steps, { operation: "drop", number }]);
}

function mergeRules(first, second) {
  return change([...workbench.steps, { operation: "merge", first, second }]);
}

// Rules are parted again with all that was done to the merged one.
function partRules(step) {
  const place = workbench.steps.indexOf(step);
  const concerns = (own) => own.number === step.first || own.first === step.first || own.second === step.first;
  return change(workbench.steps.filter((own, k) => k < place || (k > place && !concerns(own))));
}

// The last step on a rule is the one that a drag goes on with.
function replaceRule(number, conditions, goingOn) {
  const { steps } = workbench;
  const concerns = (step) => step.number === number || step.first === number || step.second === number;
  const last = steps.findLastIndex(concerns);
  const goesOn = last >= 0 && steps[last].operation === "replace";
  const kept = goesOn ? steps.filter((_, k) => k !== last) : steps;
  const before = kept.slice(0, goesOn ? last : kept.length).reduce(takeStep, fittedList);
  if (findTerm(before, number).key === keyOf(conditions)) return change(kept, goingOn);
  const step = { operation: "replace", number, conditions };
  return change(goesOn ? steps.map((own, k) => (k === last ? step : own)) : [...steps, step], goingOn);
}

// Take other steps; what cannot be is said, and changes nothing. A drag is one step to undo.
function change(steps, goingOn = false) {
  try {
    const list = followSteps(steps);
    if (!goingOn) {
      workbench.done.push(workbench.steps);
      workbench.undone = [];
    }
    setSteps(steps, list);
    return true;
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    showBench();
    byId("bench-words").textContent = refusal.message;
    return false;
  }
}

function setSteps(steps, list = followSteps(steps)) {
  workbench.steps = steps;
  workbench.now = steps.length ? solveList(list, workbench.now) : workbench.base;
  showBench();
  clearTimeout(followLater);
  followLater = setTimeout(followBench, LATER);
  findCosts();
}

function travel(from, to) {
  if (!from.length) return;
  to.push(workbench.steps);
  setSteps(from.pop());
}

// The rest of the page, which is of the fitted lists again while the workbench is closed.
function followBench() {
  state.edited = workbench.steps.length && !byId("bench-body").hidden ? describeEdited(workbench.now) : null;
  showModel();
}

// What each term would cost if it were dropped, one after the other, while nothing else is done.
function findCosts() {
  clearTimeout(costLater);
  workbench.costs = new Map();
  const waiting = [...workbench.now.list];
  const { now } = workbench;
  const next = () => {
    const term = waiting.shift();
    if (term === undefined) return;
    const without = solveList(now.list.filter((own) => own !== term), now);
    workbench.costs.set(term.number, compareCosts(now, without));
    showCosts();
    costLater = setTimeout(next, 0);
  };
  costLater = setTimeout(next, 2 * LATER);
  showCosts();
}

// The figures on top.

function showBench() {
  for (const number of cards.keys()) showCard(number);
  const { steps, now, base } = workbench;
  const cost = costOf(now);
  const first = costOf(base);
  const honest = (name) => (bench.honest === null || typeof bench.honest[name] !== "number" ? "–" : showCost(name, bench.honest[name]));
  const apart = steps.length ? compareCosts(base, now) : null;
  const tell = (name) => (apart === null ? "as fitted" : showDifference(name, apart[name], apart[`${name}_se`]));
  const rows = MEASURES.map(([name, words]) => [capitalised(words), honest(name), showCost(name, first[name]), showCost(name, cost[name]), tell(name)]);
  byId("bench-figures").replaceChildren(table(["", "Fitted, on rows it has not seen", "Refitted", "Edited", "Change"], rows, { class: "figures" }));
  byId("bench-words").textContent = tellBench(apart, cost);
  byId("bench-undo").disabled = !workbench.done.length;
  byId("bench-redo").disabled = !workbench.undone.length;
  byId("bench-save").disabled = !steps.length;
  byId("bench-copy").disabled = !steps.length;
  byId("bench-keep").disabled = !steps.length;
  showCompared();
  showScript();
}

function tellBench(apart, cost) {
  if (apart === null) return `The list as it was fitted: ${plural(fittedList.length, "term")}.`;
  const length = plural(workbench.now.list.length, "term");
  const told = MEASURES.map(([name, words]) => `${words} ${showCost(name, cost[name])} (${showDifference(name, apart[name], apart[`${name}_se`])})`);
  return `${plural(workbench.steps.length, "edit")}, ${length}: ${told.join(", ")}.`;
}

// What is otherwise than in the fitted model: its own weights, not those solved for again.
function showCompared() {
  const box = byId("bench-compared");
  if (!byId("bench-compare").open) return;
  const fitted = { list: fittedList, solved: [takeOver(bench.fitted)] };
  const [before, after] = [bench.fitted, giveBack(workbench.now.solved[0])].map((own) => own[state.output]);
  const rows = fittedList.map((term, k) => {
    const place = workbench.now.list.findIndex((own) => own.number === term.number);
    const now = workbench.now.list[place];
    const became = now === undefined ? "off" : now.key === term.key ? "the same" : tellTerm(now);
    return [String(term.number), tellTerm(term), became, tellCoef(term, before[1 + k]), now === undefined ? "–" : tellCoef(now, after[1 + place])];
  });
  const otherwise = countOtherwise(fitted, workbench.now);
  const what = { number: "by more than a tenth of a standard deviation", rate: "by more than a tenth" }[bench.family] || "as another class";
  const whose = severalScores() ? ` for ${report.outputs[state.output]}` : "";
  const kind = report.words.multiplies ? "factor" : "weight";
  const heads = ["#", "Fitted rule", "Rule now", `Fitted ${kind}${whose}`, `${capitalised(kind)} now${whose}`];
  const sentence = `${grouped(otherwise)} of ${plural(bench.n_rows, "row")} are predicted differently, ${what}.`;
  box.replaceChildren(element("p", {}, sentence), element("div", { class: "scroll", role: "region", "aria-label": "Fitted and edited", tabindex: "0" }, table(heads, rows)));
}

function showScript() {
  byId("bench-script").textContent = `${writeCommand()}\n\n${writeScript()}`;
}

function copyCommand() {
  const done = (words) => () => {
    byId("bench-told").textContent = words;
  };
  byId("bench-details").open = true;
  navigator.clipboard.writeText(byId("bench-script").textContent).then(done("Copied: the command, and below it the script for edits.json."), done("The browser does not allow copying; take the text below."));
}

function openBench() {
  const body = byId("bench-body");
  const open = body.hidden;
  body.hidden = !open;
  byId("bench-switch").setAttribute("aria-expanded", String(open));
  byId("bench-switch").textContent = open ? "Close the workbench" : "Change the list";
  document.documentElement.toggleAttribute("data-bench", open);
  byId("line-knobs").hidden = open || front === null;
  if (!open) {
    followBench();
    return;
  }
  if (front !== null) state.line = front.chosen;
  if (workbench.base === null) {
    workbench.base = solveList(fittedList, { list: fittedList, solved: bench.solved });
    workbench.now = workbench.base;
    byId("bench-list").replaceChildren(...fittedList.map(makeCard));
    byId("bench-about").append(tellLinesApart());
    findCosts();
  }
  showBench();
  followBench();
}

// How far lines are from rows.
function tellLinesApart() {
  if (bench.min_count === 1) return "";
  const told = MEASURES.map(([name, words]) => `${words} ${showCost(name, bench.exact[name])}`);
  const off = Math.abs(costOf(workbench.base).loss - bench.exact.loss) / bench.exact.loss;
  const far = off > FAR ? `far off: ${plural(bench.n_rows, "row")} are too few for such lines` : "a little off";
  return ` Rows on one line count as equal, so figures are ${far}. On the rows themselves the refitted list has ${told.join(" and ")}.`;
}

// What the fit was asked to keep to, and the page keeps to as well.
function tellDirections() {
  const about = (direction) => report.features.filter((_, place) => bench.directions[place] === direction).join(", ");
  const parts = [["rise", 1], ["fall", -1]].flatMap(([way, direction]) => (about(direction) ? [`${way} with ${about(direction)}`] : []));
  return parts.length ? `The score may only ${parts.join(" and ")}: a weight that would go against it is 0. ` : "";
}

function startBench() {
  byId("bench").hidden = bench === null;
  byId("bench-link").hidden = bench === null;
  if (bench === null) return;
  const lines = bench.min_count > 1 ? `, put together in ${plural(N_LINES, "line")} of at least ${bench.min_count}` : "";
  byId("bench-about").textContent =
    "Switch rules off, drag thresholds, merge rules: all weights are solved for again at once, and the page follows. " +
    `This is done on ${plural(bench.n_rows, "row")}${lines}. ${tellDirections()}${bench.spent}`;
  byId("bench-switch").addEventListener("click", openBench);
  byId("bench-undo").addEventListener("click", () => travel(workbench.done, workbench.undone));
  byId("bench-redo").addEventListener("click", () => travel(workbench.undone, workbench.done));
  byId("bench-save").addEventListener("click", () => writeModel().then((text) => saveText("edited.json", text)));
  byId("bench-copy").addEventListener("click", copyCommand);
  byId("bench-keep").addEventListener("click", () => saveText("edits.json", writeScript()));
  byId("bench-author").addEventListener("input", showScript);
  byId("bench-compare").addEventListener("toggle", showCompared);
}

// The workbench: rules are switched off, thresholds dragged, rules merged; weights and figures follow.

const LATER = 150; // milliseconds after which the rest of the page follows
const MOST_VALUES = 20; // of a slider
const FAR = 0.2; // of the loss
const BEFORE_MERGE = "not merged";

const workbench = { steps: [], undone: [], done: [], base: null, now: null, notes: new Map(), costs: new Map(), dragged: null };
const cards = new Map(); // by the number of the term
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

function dropsOf(steps) {
  return new Set(steps.filter((step) => step.operation === "drop").map((step) => step.number));
}

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

// The cards, one for each fitted term.

function makeCard(term) {
  const { number } = term;
  const box = element("input", { type: "checkbox", checked: "" });
  const words = element("span", { class: "bench-rule" });
  const weight = element("span", { class: "bench-weight" });
  const sliders = element("div", { class: "bench-sliders" });
  const cost = element("div", { class: "bench-cost" });
  const merge = element("select", {});
  const note = element("input", { type: "text", maxlength: 400, placeholder: "why", autocomplete: "off" });
  box.addEventListener("change", () => switchRule(number, box.checked));
  merge.addEventListener("change", () => chooseMerge(number, merge));
  note.addEventListener("input", () => {
    workbench.notes.set(number, note.value);
    showScript();
  });
  const more = element(
    "div",
    { class: "bench-more" },
    ...(term.conditions === undefined ? [] : [element("label", {}, "Merge with ", merge)]),
    element("label", {}, "Note ", note),
  );
  const head = element("div", { class: "bench-head" }, element("label", {}, box, element("strong", {}, String(number)), " ", words), weight);
  const item = element("li", { "data-number": number }, head, sliders, cost, more);
  cards.set(number, { item, box, words, weight, sliders, cost, merge, note, shape: null });
  return item;
}

function chooseMerge(number, merge) {
  const step = workbench.steps.find((own) => own.operation === "merge" && own.second === number);
  if (step !== undefined) partRules(step);
  else if (merge.value !== BEFORE_MERGE) mergeRules(Math.min(number, Number(merge.value)), Math.max(number, Number(merge.value)));
}

// A slider for each bound, among the cuts that are nearest to where it stands.
function makeSliders(term, card) {
  const bounds = term.conditions.flatMap((own, k) =>
    own.categories !== undefined || own.never ? [] : ["low", "high"].filter((side) => own[side] !== null).map((side) => ({ k, side, column: bench.columns[own.column] })),
  );
  const movable = bounds.filter(({ column }) => column.cuts.length > 1);
  card.moved = movable.map((bound) => ({ ...bound, name: element("span", {}), slider: element("input", { type: "range", step: 1 }), value: element("output", {}) }));
  for (const one of card.moved) {
    const place = term.conditions[one.k][one.side];
    const most = one.column.cuts.length - 1;
    const first = Math.max(Math.min(place - MOST_VALUES / 2, most - MOST_VALUES + 1), 0);
    one.slider.min = first;
    one.slider.max = Math.min(first + MOST_VALUES - 1, most);
    one.slider.addEventListener("input", () => drag(term.number, one));
    for (const end of ["change", "pointerup", "keyup"]) {
      one.slider.addEventListener(end, () => {
        workbench.dragged = null;
      });
    }
  }
  card.sliders.replaceChildren(...card.moved.map((one) => element("label", {}, one.name, one.slider, one.value)));
}

function drag(number, bound) {
  const { k, side, slider } = bound;
  const term = findTerm(workbench.now.list, number);
  const place = Number(slider.value);
  const own = term.conditions[k];
  const other = own[side === "low" ? "high" : "low"];
  if (other !== null && (side === "low" ? place >= other : place <= other)) {
    showBench(); // the bounds may not pass each other
    return;
  }
  const conditions = term.conditions.map((one, at) => (at === k ? { ...own, [side]: place } : one));
  if (replaceRule(number, conditions, workbench.dragged === bound)) workbench.dragged = bound;
}

function showCard(number) {
  const card = cards.get(number);
  const fitted = fittedList.find((term) => term.number === number);
  const term = workbench.now.list.find((own) => own.number === number);
  const merged = workbench.steps.find((step) => step.operation === "merge" && step.second === number);
  const shown = term === undefined ? lastOf(number) : term;
  card.item.className = term === undefined ? "bench-off" : shown.place === fitted.place && shown.origins === fitted.origins ? "" : "bench-changed";
  card.box.checked = term !== undefined;
  card.box.disabled = merged !== undefined;
  card.words.textContent = merged === undefined ? tellTerm(shown) : `${tellTerm(shown)} (merged into ${merged.first})`;
  card.weight.textContent = term === undefined ? "off" : tellWeight(number);
  if (fitted.conditions !== undefined) {
    showSliders(shown, card, term !== undefined);
    showMerge(number, card, term, merged);
  }
}

// A term that is no longer in the list, as it was when it left.
function lastOf(number) {
  const { steps } = workbench;
  const gone = steps.findIndex((step) => (step.operation === "drop" && step.number === number) || step.second === number);
  return findTerm(steps.slice(0, gone).reduce(takeStep, fittedList), number);
}

function tellWeight(number) {
  const place = workbench.now.list.findIndex((term) => term.number === number);
  return `weight ${signed(giveBack(workbench.now.solved[0])[state.output][1 + place], 3)}`;
}

function showSliders(term, card, on) {
  const shape = JSON.stringify(term.conditions.map((own) => [own.feature, own.low === null, own.high === null]));
  if (card.shape !== shape) makeSliders(term, card);
  card.shape = shape;
  for (const { k, side, name, slider, value, column } of card.moved) {
    const place = term.conditions[k][side];
    const [next, words] = column.words[place]; // a bound is told by the number after it where that is rounder
    name.textContent = `${column.name} ${side === "low" ? (next ? "≥" : ">") : next ? "<" : "≤"}`;
    slider.disabled = !on;
    if (Number(slider.value) !== place) slider.value = place;
    value.textContent = words;
    slider.setAttribute("aria-valuetext", tellCondition(term.conditions[k]));
  }
}

function showMerge(number, card, term, merged) {
  const others = workbench.now.list.filter((own) => own.number !== number && own.conditions !== undefined);
  const options = merged === undefined ? others.map((own) => [own.number, `rule ${own.number}`]) : [[merged.first, `merged into ${merged.first}`]];
  card.merge.replaceChildren(element("option", { value: BEFORE_MERGE }, merged === undefined ? "–" : "part them again"), ...options.map(([value, text]) => element("option", { value }, text)));
  card.merge.value = merged === undefined ? BEFORE_MERGE : merged.first;
  card.merge.disabled = term === undefined && merged === undefined;
}

function showCosts() {
  const known = [...workbench.costs.values()].map((own) => Math.abs(own.loss));
  const largest = Math.max(...known, 0);
  for (const [number, card] of cards) {
    const own = workbench.costs.get(number);
    const there = workbench.now.list.some((term) => term.number === number);
    const words = own === undefined ? (there ? "If dropped: …" : "") : `If dropped: ${bench.loss_name} ${showDifference("loss", own.loss, own.loss_se)}`;
    card.cost.replaceChildren(element("span", {}, words), own === undefined ? "" : bar(own.loss, largest, true));
  }
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
  const rows = [["error", bench.error_name], ["loss", bench.loss_name]].map(([name, words]) => [capitalised(words), honest(name), showCost(name, first[name]), showCost(name, cost[name]), tell(name)]);
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
  return (
    `${plural(workbench.steps.length, "edit")}, ${length}: ${bench.error_name} ${showCost("error", cost.error)} (${showDifference("error", apart.error, apart.error_se)}), ` +
    `${bench.loss_name} ${showCost("loss", cost.loss)} (${showDifference("loss", apart.loss, apart.loss_se)}).`
  );
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
    return [String(term.number), tellTerm(term), became, signed(before[1 + k], 3), now === undefined ? "–" : signed(after[1 + place], 3)];
  });
  const otherwise = countOtherwise(fitted, workbench.now);
  const what = bench.family === "number" ? "by more than a tenth of a standard deviation" : "as another class";
  const sentence = `${grouped(otherwise)} of ${plural(bench.n_rows, "row")} are predicted otherwise, ${what}.`;
  box.replaceChildren(element("p", {}, sentence), element("div", { class: "scroll", role: "region", "aria-label": "Fitted and edited", tabindex: "0" }, table(["#", "Fitted rule", "Rule now", "Fitted weight", "Weight now"], rows)));
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
  const [error, loss] = ["error", "loss"].map((name) => `${bench[`${name}_name`]} ${showCost(name, bench.exact[name])}`);
  const off = Math.abs(costOf(workbench.base).loss - bench.exact.loss) / bench.exact.loss;
  const far = off > FAR ? `far off: ${plural(bench.n_rows, "row")} are too few for such lines` : "a little off";
  return ` Rows on one line count as alike, so figures are ${far}. On the rows themselves the refitted list has ${error} and ${loss}.`;
}

function startBench() {
  byId("bench").hidden = bench === null;
  byId("bench-link").hidden = bench === null;
  if (bench === null) return;
  const lines = bench.min_count > 1 ? `, put together in ${plural(N_LINES, "line")} of at least ${bench.min_count}` : "";
  byId("bench-about").textContent =
    "Switch rules off, drag thresholds, merge rules: all weights are solved for again at once, and the page follows. " +
    `This is done on ${plural(bench.n_rows, "row")}${lines}. ${bench.spent}`;
  byId("bench-switch").addEventListener("click", openBench);
  byId("bench-undo").addEventListener("click", () => travel(workbench.done, workbench.undone));
  byId("bench-redo").addEventListener("click", () => travel(workbench.undone, workbench.done));
  byId("bench-save").addEventListener("click", () => saveText("edited.json", writeModel()));
  byId("bench-copy").addEventListener("click", copyCommand);
  byId("bench-keep").addEventListener("click", () => saveText("edits.json", writeScript()));
  byId("bench-author").addEventListener("input", showScript);
  byId("bench-compare").addEventListener("toggle", showCompared);
}

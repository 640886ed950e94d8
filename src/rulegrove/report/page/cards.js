// A card for each fitted term: a switch, its weight, a slider for each threshold, what it would cost to drop it.

const MOST_VALUES = 20; // of a slider
const SHOWN_CLASSES = 3; // with a weight
const BEFORE_MERGE = "not merged";

const cards = new Map(); // by the number of the term

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

// A weight, or what it multiplies a rate by; of a linear term from end to end.
function tellCoef(term, weight) {
  return report.words.multiplies ? times(weight * spanOf(term.place)) : signed(weight, 3);
}

// The weight of a term; of several classes those that it is most about.
function tellWeight(number) {
  const place = workbench.now.list.findIndex((term) => term.number === number);
  const weights = giveBack(workbench.now.solved[0]).map((own) => own[1 + place]);
  if (weights.length === 1) return `${report.words.multiplies ? report.words.noun : "weight"} ${tellCoef(workbench.now.list[place], weights[0])}`;
  const about = weights.flatMap((weight, output) => (workbench.now.list[place].free[output] ? [{ weight, output }] : []));
  about.sort((one, other) => Math.abs(other.weight) - Math.abs(one.weight));
  return about.slice(0, SHOWN_CLASSES).map(({ weight, output }) => `${clipped(report.outputs[output], 20)} ${signed(weight, 3)}`).join(", ");
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

// The front: what each length of the list costs in error, and the slider that chooses one.

const FRONT = { first: 200, second: 120, gap: 40, top: 22, bottom: 44 };
const front = report.front;
let moveMark = () => {};

function capitalised(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function tellFront() {
  const panels = front.panels;
  const sentences = [
    "One fit, a model of every length: to the left the shortest list, at the right end the large model that all lists come from. " +
      "The slider below chooses one, and the whole page follows it.",
  ];
  if (panels.length) sentences.push("Bands are one standard error wide on either side.");
  else sentences.push("No rows were held out, because the point of the path was given; so no length was judged.");
  const own = report.words.lists;
  if (own) sentences.push(`The number of terms is the largest that any ${own} has; ${own === "class" ? "classes" : "numbers"} may share rules.`);
  byId("front-about").textContent = sentences.join(" ");
}

function severalScores() {
  return report.outputs.length > 1;
}

// The number of terms in words.
function tellLength(line) {
  const length = plural(front.terms[line], "term");
  return report.words.lists ? `${length} a ${report.words.lists}, ${grouped(front.rules[line])} different in all` : length;
}

function tellValue(panel, value, digits) {
  return panel.share ? percent(value) : show(value, digits);
}

// The drawing: a panel for each kind of error, over the number of terms.

function drawFront() {
  const box = byId("front-chart");
  const width = chartWidth(box);
  const drawn = front.panels.map((panel) => {
    const domain = extent(panel.values.flatMap((value, k) => [value - panel.standard_errors[k], value + panel.standard_errors[k]]));
    return { panel, domain, ticks: ticks(...domain, 5) };
  });
  const left = Math.max(...drawn.map((one) => axisRoom(one.ticks)));
  const x = scale([placeOf(front.terms[0]), placeOf(front.terms[front.terms.length - 1])], [left + 6, width - 16]);
  const spots = front.terms.map((count) => x(placeOf(count)));
  const heights = drawn.map((_, k) => (k ? FRONT.second : FRONT.first));
  const floor = FRONT.top + heights.reduce((sum, height) => sum + height) + FRONT.gap * (drawn.length - 1);
  const svg = canvas(width, floor + FRONT.bottom, labelFront());
  let top = FRONT.top;
  drawn.forEach((one, k) => {
    one.y = scale(one.domain, [top + heights[k], top]);
    drawHeightAxis(svg, one.y, one.ticks, left, width - 12);
    svg.append(label(capitalised(one.panel.name), (width - 8) / LETTER, 2, top - 10, { class: "name" }));
    svg.append(drawBand(one.panel, spots, one.y));
    svg.append(polyline(one.panel.values.map((value, line) => [spots[line], one.y(value)]), { class: "line" }));
    top += heights[k] + FRONT.gap;
  });
  drawEnds(svg, spots, drawn, floor);
  drawFrontAxis(svg, x, floor, (left + width) / 2);
  svg.append(makeMark(spots, drawn, floor));
  svg.addEventListener("click", (event) => goTo(lineAt(event, svg, spots, width)));
  box.replaceChildren(svg);
  moveMark();
}

// Every doubling has about the same width; a model without terms has a place too.
function placeOf(count) {
  return Math.log(count + 1);
}

function labelFront() {
  const panel = front.panels[0];
  const told = (line) => `${tellValue(panel, panel.values[line])} with ${tellLength(line)}`;
  return `${capitalised(panel.name)} against the number of terms. Chosen: ${told(front.chosen)}; the large model: ${told(front.terms.length - 1)}.`;
}

function drawBand(panel, spots, y) {
  const edge = (sign) => panel.values.map((value, line) => y(value + sign * panel.standard_errors[line]));
  return area(spots, edge(-1), edge(1));
}

// The chosen length and the large model, marked and named.
function drawEnds(svg, spots, drawn, floor) {
  const last = spots.length - 1;
  svg.append(shape("line", { x1: spots[front.chosen], x2: spots[front.chosen], y1: FRONT.top, y2: floor, class: "chosen" }));
  for (const { panel, y } of drawn) {
    svg.append(shape("circle", { cx: spots[front.chosen], cy: y(panel.values[front.chosen]), r: 5, class: "dot" }));
    if (front.chosen !== last) svg.append(shape("circle", { cx: spots[last], cy: y(panel.values[last]), r: 5, class: "large" }));
  }
  const right = spots[front.chosen] > spots[0] + 70;
  const chosen = front.chosen === last ? "chosen: the large model" : "chosen";
  svg.append(word(chosen, spots[front.chosen] + (right ? -7 : 7), FRONT.top + 10, { "text-anchor": right ? "end" : "start" }));
  if (front.chosen === last) return;
  const below = spots[last] - spots[front.chosen] < 130 ? 14 : 0; // so that the two names do not touch
  svg.append(word("large model", spots[last] + 12, FRONT.top + 10 + below, { "text-anchor": "end" }));
}

function drawFrontAxis(svg, x, floor, middle) {
  const [first, last] = [front.terms[0], front.terms[front.terms.length - 1]];
  const round = [0, ...[1, 10, 100, 1e3, 1e4, 1e5].flatMap((power) => [power, 2 * power, 5 * power])];
  drawWidthAxis(svg, (count) => x(placeOf(count)), round.filter((count) => count >= first && count <= last), floor, grouped);
  svg.append(word(report.words.lists ? `Terms of a ${report.words.lists}` : "Terms", middle, floor + 36, { class: "name", "text-anchor": "middle" }));
}

function makeMark(spots, drawn, floor) {
  const line = shape("line", { y1: FRONT.top, y2: floor, class: "mark" });
  const dots = drawn.map(() => shape("circle", { r: 5.5, class: "mark-dot" }));
  moveMark = () => {
    line.setAttribute("x1", spots[state.line]);
    line.setAttribute("x2", spots[state.line]);
    drawn.forEach(({ panel, y }, k) => {
      dots[k].setAttribute("cx", spots[state.line]);
      dots[k].setAttribute("cy", y(panel.values[state.line]));
    });
  };
  return shape("g", {}, line, ...dots);
}

function lineAt(event, svg, spots, width) {
  const box = svg.getBoundingClientRect();
  const inside = ((event.clientX - box.left) / box.width) * width;
  return spots.reduce((best, spot, line) => (Math.abs(spot - inside) < Math.abs(spots[best] - inside) ? line : best), 0);
}

function listFront() {
  const heads = ["Terms", "Different terms", ...front.panels.flatMap((panel) => [capitalised(panel.name), "Standard error"])];
  const rows = front.terms.map((count, line) => [
    grouped(count) + (line === front.chosen ? " (chosen)" : ""),
    grouped(front.rules[line]),
    ...front.panels.flatMap((panel) => [tellValue(panel, panel.values[line]), tellValue(panel, panel.standard_errors[line], 2)]),
  ]);
  byId("front-numbers").replaceChildren(numbers(heads, rows));
}

// The words of a length.

function tellLine() {
  const errors = front.panels.map((panel) => `, ${panel.name} ${tellValue(panel, panel.values[state.line])} ± ${tellValue(panel, panel.standard_errors[state.line], 2)}`);
  const large = state.line === front.terms.length - 1 ? "The large model: " : "";
  return `${large}${tellLength(state.line)}${errors.join("")}. ${state.line === front.chosen ? "This is the chosen length." : compareWithChosen()}`;
}

function compareWithChosen() {
  const fewer = front.terms[front.chosen] - front.terms[state.line];
  const size = fewer === 0 ? "As many terms as" : `${plural(Math.abs(fewer), "term")} ${fewer > 0 ? "fewer" : "more"} than`;
  const changes = front.panels.map((panel) => {
    const change = panel.values[state.line] - panel.values[front.chosen];
    const kind = panel.name.replace(" held out", "");
    if (change === 0) return `, the same ${kind}`;
    return `, ${kind} ${change > 0 ? "up" : "down"} by ${panel.share ? `${show(100 * Math.abs(change), 2)} points` : show(Math.abs(change), 2)}`;
  });
  return `${size} the chosen one${changes.join("")}.`;
}

function showLine() {
  if (front === null) return;
  const words = tellLine();
  byId("line-words").textContent = state.edited === null ? words : "Everything below is about the list as you have changed it.";
  const slider = byId("line");
  slider.value = state.line;
  slider.setAttribute("aria-valuetext", words);
  byId("back").disabled = state.line === front.chosen;
  moveMark();
}

function goTo(line) {
  state.line = line;
  showModel();
}

function startFront() {
  byId("front").hidden = front === null;
  byId("front-link").hidden = front === null;
  byId("line-knobs").hidden = front === null;
  byId("controls").hidden = front === null && !severalScores();
  if (front === null) return;
  byId("line").max = front.terms.length - 1;
  byId("line").addEventListener("input", (event) => goTo(Number(event.target.value)));
  byId("back").addEventListener("click", () => {
    goTo(front.chosen);
    byId("line").focus();
  });
  tellFront();
  listFront();
}

// Partial dependence, figures of held-out rows and of those given, charts of them; evidence; edits; and the votes.

const NO_ROWS = "The report was made without a table of rows, so this part is left out.";
const MANY_CLASSES = 8;
const MANY_CATEGORIES = 24;
const LONG_NAME = 18;
const CATEGORY = 18; // height of the line of a category
const WIDE_LETTER = 7.6; // width of a letter of its name, at most, but for capitals
const NO_TARGET = "The rows were given without their target, so this part is left out.";

// Partial dependence.

function showDependence() {
  const curves = currentLine().dependence;
  const box = byId("dependence-charts");
  if (curves === null || !curves.length) {
    byId("dependence-about").textContent = curves === null ? NO_ROWS : "The model uses no attribute.";
    box.replaceChildren();
    return;
  }
  if (report.classes === null) byId("dependence-title").textContent = "How the prediction depends on them";
  const what = meanName();
  const words =
    `${what} ${aboutGiven()}, if one attribute had the same value in all of them. ` +
    "Ticks at the bottom are the deciles of the attribute. All charts share one scale.";
  byId("dependence-about").replaceChildren(words, ...tellBands(curves));
  const domain = extent(curves.flatMap((curve) => [curve.values[state.output], ...bandOf(curve)].flat()));
  const width = dependenceWidth(box);
  box.replaceChildren(...curves.map((curve) => drawCurve(curve, domain, what, hasLongNames(curve) ? chartWidth(box) : width)));
}

// The low and the high ends of a curve in lists from other rows, as far as they are known.
function bandOf(curve) {
  return curve.band === null ? [] : curve.band.map((ends) => ends[state.output]);
}

// A legend with a sign for each kind of chart that has a band.
function tellBands(curves) {
  const kinds = new Set(curves.filter((curve) => curve.band !== null).map((curve) => (curve.categories ? "whisker" : "area")));
  return kinds.size ? [legend(...kinds)] : [];
}

// Categories of long names have the whole width of the page.
function hasLongNames(curve) {
  return curve.categories && curve.grid.some((name) => Array.from(name).length > LONG_NAME);
}

function dependenceWidth(box) {
  const columns = Math.max(Math.floor(box.clientWidth / 330), 1);
  return Math.max(Math.floor((box.clientWidth - 20 * (columns - 1)) / columns), 240);
}

function drawCurve(curve, domain, what, width) {
  const name = report.features[curve.feature];
  const values = curve.values[state.output];
  const band = bandOf(curve);
  const range = `from ${show(Math.min(...values))} to ${show(Math.max(...values))}`;
  const about = `${what} over ${name}: ${range}.`;
  const told = (k) => (band.length ? [band.map((ends) => show(ends[k])).join(" to ")] : []);
  const rows = curve.grid.map((point, k) => [typeof point === "string" ? brief(point, 60) : show(point), show(values[k]), ...told(k)]);
  const draw = curve.categories ? drawCategories : drawNumbers;
  const svg = draw(curve, values, band, domain, width, about);
  const some = curve.categories && values.length > MANY_CATEGORIES ? `: the ${MANY_CATEGORIES / 2} lowest and the ${MANY_CATEGORIES / 2} highest of ${grouped(values.length)} categories` : "";
  return element("figure", { class: hasLongNames(curve) ? "whole" : null }, element("figcaption", {}, name + some), svg, numbers([name, what, ...(band.length ? [BAND] : [])], rows));
}

function drawNumbers(curve, values, band, domain, width, about) {
  const shown = ticks(...domain, 4);
  const left = axisRoom(shown);
  const height = 190;
  const svg = canvas(width, height, about);
  const y = scale(domain, [height - 34, 10]);
  drawHeightAxis(svg, y, shown, left, width - 10);
  drawLine(svg, curve, values, band, y, left, width, height);
  return svg;
}

function drawLine(svg, curve, values, band, y, left, width, height) {
  const domain = [curve.grid[0], curve.grid[curve.grid.length - 1]];
  const x = scale(domain, [left + 6, width - 16]);
  drawWidthAxis(svg, x, ticks(...domain, Math.max(Math.floor(width / 80), 2)), height - 34);
  for (const decile of curve.deciles) svg.append(shape("line", { x1: x(decile), x2: x(decile), y1: height - 34, y2: height - 41, class: "axis" }));
  if (band.length) svg.append(area(curve.grid.map(x), ...band.map((ends) => ends.map(y))));
  svg.append(polyline(curve.grid.map((point, k) => [x(point), y(values[k])]), { class: "line" }));
}

// One line a category, so that its name has room.
function drawCategories(curve, values, band, domain, width, about) {
  const labels = curve.grid;
  const places = placesShown(values);
  const longest = Math.max(...places.map((k) => Array.from(labels[k]).length));
  const letters = Math.min(longest, Math.floor((0.45 * width) / WIDE_LETTER));
  const left = 12 + WIDE_LETTER * letters;
  const height = CATEGORY * places.length + 30;
  const svg = canvas(width, height, about);
  const x = scale(domain, [left, width - 14]);
  for (const value of ticks(...domain, Math.max(Math.floor((width - left) / 60), 2))) {
    svg.append(shape("line", { x1: x(value), x2: x(value), y1: 4, y2: height - 26, class: "rule" }));
    svg.append(word(show(value), x(value), height - 10, { "text-anchor": "middle" }));
  }
  places.forEach((k, line) => {
    const y = 4 + CATEGORY * (line + 0.5);
    svg.append(label(labels[k], letters, left - 8, y + 4, { "text-anchor": "end" }));
    if (band.length) svg.append(shape("line", { x1: x(band[0][k]), x2: x(band[1][k]), y1: y, y2: y, class: "whisker" }));
    svg.append(shape("circle", { cx: x(values[k]), cy: y, r: 4, class: "dot" }, shape("title", {}, `${labels[k]}: ${show(values[k])}`)));
  });
  return svg;
}

function placesShown(values) {
  const places = values.map((_, k) => k);
  if (places.length <= MANY_CATEGORIES) return places;
  places.sort((one, other) => values[one] - values[other]);
  return [...places.slice(0, MANY_CATEGORIES / 2), ...places.slice(-MANY_CATEGORIES / 2)];
}

// Classes and probabilities, or numbers.

function showCheck() {
  const check = currentLine().check;
  if (check === null) {
    byId("check-about").textContent = report.n_given === null ? NO_ROWS : NO_TARGET;
    return;
  }
  byId("check-about").textContent = check.about;
  byId("check-figures").replaceChildren(table(check.table.heads, check.table.lines, { class: "figures" }));
  const parts = [];
  if (check.charts !== null) {
    const whose = `, ${check.charts.rows}`;
    parts.push(makeConfusion(check.charts.counts, whose), drawCalibration(check.charts.calibration[state.output], whose));
    if (check.charts.roc[state.output].wrong.length) parts.push(drawRoc(check.charts.roc[state.output], whose));
  }
  if (currentLine().tenths !== null) parts.push(drawTenths(currentLine().tenths));
  if (report.observed !== null && !report.words.multiplies && currentLine().predicted !== null) {
    parts.push(drawScatter(report.observed[Math.min(state.output, report.observed.length - 1)], currentLine().predicted[state.output]));
  }
  if (report.survival !== null) parts.push(...drawSurvival());
  byId("check-parts").replaceChildren(...parts);
}

// Many classes have small cells, with the shares on hovering.
function makeConfusion(counts, whose) {
  const many = counts.length > MANY_CLASSES;
  const letters = many ? 16 : 28;
  const names = report.classes.map((name) => brief(name, letters));
  const heads = report.classes.map((name) => element("th", { scope: "col" }, element("span", {}, brief(name, letters))));
  const head = element("tr", {}, element("th", { scope: "col" }, "True class"), ...heads);
  const rows = counts.map((own, place) => {
    const total = own.reduce((sum, count) => sum + count, 0);
    const cells = own.map((count, other) => makeCount(count, total, place, other, many));
    return element("tr", {}, element("th", { scope: "row" }, names[place]), ...cells);
  });
  const upright = report.classes.every((name) => name.length < 4) ? " upright" : "";
  const made = element("table", { class: many ? "confusion many" + upright : "confusion" }, element("thead", {}, head), element("tbody", {}, ...rows));
  const shares = many ? "; the darker, the larger the share of the true class" : "";
  const caption = element("figcaption", {}, `Confusion: rows are the true classes, columns the predicted ones${whose}${shares}`);
  const box = element("div", { class: "scroll", role: "region", "aria-label": "Confusion matrix", tabindex: "0" }, made);
  return element("figure", { class: "whole" }, caption, box);
}

function makeCount(count, total, place, other, many) {
  const share = total ? count / total : 0;
  const right = place === other;
  const shade = element("span", { class: right ? "shade right" : "shade wrong", "aria-hidden": "true" });
  shade.style.opacity = many ? 0.45 * Math.sqrt(share) : 0.35 * share;
  const words = element("span", {}, many && count === 0 ? "" : grouped(count));
  if (!many) words.append(element("small", {}, ` (${percent(share, 0)})`));
  const title = `${report.classes[place]}, predicted as ${report.classes[other]}: ${plural(count, "row")} (${percent(share)})`;
  return element("td", { class: "number", title }, shade, words);
}

// A square from 0 to 1 either way, with its diagonal.
function drawSquare(about, below) {
  const size = Math.min(dependenceWidth(byId("check-parts")) + 60, 430, chartWidth(byId("check-parts")));
  const svg = canvas(size, size, about);
  const place = scale([0, 1], [46, size - 14]);
  const height = scale([0, 1], [size - 46, 12]);
  const fifths = [0, 0.2, 0.4, 0.6, 0.8, 1];
  drawHeightAxis(svg, height, fifths, 46, size - 14);
  drawWidthAxis(svg, place, fifths, size - 46);
  svg.append(shape("line", { x1: place(0), y1: height(0), x2: place(1), y2: height(1), class: "ideal" }));
  svg.append(word(below, (46 + size - 14) / 2, size - 10, { class: "name", "text-anchor": "middle" }));
  return { svg, place, height };
}

function drawCalibration(curve, whose) {
  const name = report.outputs[state.output];
  const { svg, place, height } = drawSquare(`Predicted probability of ${name} beside the share that came true; numbers follow.`, "Predicted probability");
  curve.predicted.forEach((value, k) => {
    svg.append(shape("line", { x1: place(value), x2: place(value), y1: height(curve.low[k]), y2: height(curve.high[k]), class: "whisker" }));
  });
  svg.append(polyline(curve.predicted.map((value, k) => [place(value), height(curve.observed[k])]), { class: "line" }));
  curve.predicted.forEach((value, k) => svg.append(shape("circle", { cx: place(value), cy: height(curve.observed[k]), r: 4, class: "dot" })));
  const rows = curve.predicted.map((value, k) => [
    percent(value), percent(curve.observed[k]), `${percent(curve.low[k], 0)} to ${percent(curve.high[k], 0)}`, grouped(curve.sizes[k]),
  ]);
  const caption = `Calibration: how often ${name} came true (height) where it had a probability (width), with 95 % intervals${whose}`;
  return element("figure", {}, element("figcaption", {}, caption), svg, numbers(["Predicted", "Came true", "Interval", "Rows"], rows));
}

function drawRoc(curve, whose) {
  const name = report.outputs[state.output];
  const { svg, place, height } = drawSquare(`ROC of ${name}: the area below it is ${show(curve.area, 3)}; numbers follow.`, "Share of the others mistaken for it");
  svg.append(polyline(curve.wrong.map((value, k) => [place(value), height(curve.right[k])]), { class: "line" }));
  const rows = curve.wrong.map((value, k) => [percent(value), percent(curve.right[k])]);
  const caption = `ROC: rows of ${name} that are found (height) as more of the others are mistaken for it (width); area ${show(curve.area, 3)}${whose}`;
  return element("figure", {}, element("figcaption", {}, caption), svg, numbers(["Others mistaken", "Found"], rows));
}

// What came true in tenths of the rows by what was predicted: a mean, or the share below a quantile.
function drawTenths(tenths) {
  const own = Math.min(state.output, tenths.lines.length - 1);
  const line = tenths.lines[own];
  const level = tenths.levels === null ? null : tenths.levels[own];
  const size = Math.min(dependenceWidth(byId("check-parts")), 430);
  const all = [...line.low, ...line.high, ...line.observed, ...line.predicted];
  const across = level === null ? extent(all) : extent(line.predicted);
  const up = level === null ? across : [0, 1];
  const shown = ticks(...up, 5);
  const left = axisRoom(shown);
  const svg = canvas(size, size, `${tenths.said[own]} beside what came true, in tenths of the rows; numbers follow.`);
  const x = scale(across, [left, size - 14]);
  const y = scale(up, [size - 46, 12]);
  drawHeightAxis(svg, y, shown, left, size - 14);
  drawWidthAxis(svg, x, ticks(...across, Math.max(Math.floor(size / 80), 2)), size - 46);
  const ideal = level === null ? up : [level, level];
  svg.append(shape("line", { x1: x(across[0]), y1: y(ideal[0]), x2: x(across[1]), y2: y(ideal[1]), class: "ideal" }));
  svg.append(label(tenths.said[own], size / LETTER - 8, (left + size) / 2, size - 10, { class: "name", "text-anchor": "middle" }));
  line.predicted.forEach((value, k) => {
    if (line.low[k] !== null && line.high[k] !== null) svg.append(shape("line", { x1: x(value), x2: x(value), y1: y(line.low[k]), y2: y(line.high[k]), class: "whisker" }));
  });
  svg.append(polyline(line.predicted.map((value, k) => [x(value), line.observed[k] === null ? null : y(line.observed[k])]), { class: "line" }));
  line.predicted.forEach((value, k) => {
    if (line.observed[k] !== null) svg.append(shape("circle", { cx: x(value), cy: y(line.observed[k]), r: 4, class: "dot" }));
  });
  const known = line.low.some((value) => value !== null);
  const tell = level === null ? show : percent;
  const rows = line.predicted.map((value, k) => [
    show(value), tell(line.observed[k]), ...(known ? [line.low[k] === null ? "–" : `${tell(line.low[k])} to ${tell(line.high[k])}`] : []), grouped(line.sizes[k]),
  ]);
  const caption = `${tenths.came} (height) in tenths of the ${tenths.rows} by what was predicted (width)${known ? ", with 95 % intervals" : ""}; dashed is where ${level === null ? "it is as predicted" : "the share is the level"}`;
  return element("figure", {}, element("figcaption", {}, caption), svg, numbers(["Predicted", tenths.came, ...(known ? ["Interval"] : []), "Rows"], rows));
}

// Kaplan-Meier curves by the most important rules of the length that is shown.
function drawSurvival() {
  const rules = termsShown().filter((entry) => report.survival.curves[entry.term] !== undefined);
  return rules.slice(0, 3).map((entry) => drawCurves(entry, report.survival.curves[entry.term]));
}

function drawCurves(entry, pair) {
  const kinds = ["line", "line other"];
  const names = ["where the rule holds", "all other rows"];
  const width = Math.min(dependenceWidth(byId("check-parts")), 430);
  const height = 260;
  const moments = report.survival.moments;
  const svg = canvas(width, height, `Share without an event over time, by the rule: ${entry.text}; numbers follow.`);
  const x = scale([0, moments[moments.length - 1]], [46, width - 14]);
  const y = scale([0, 1], [height - 46, 12]);
  drawHeightAxis(svg, y, [0, 0.2, 0.4, 0.6, 0.8, 1], 46, width - 14);
  drawWidthAxis(svg, x, ticks(0, moments[moments.length - 1], Math.max(Math.floor(width / 80), 2)), height - 46);
  pair.forEach((curve, k) => {
    if (curve === null) return;
    const [places, ...heights] = stairs(curve.x.map(x), curve.share.map(y), curve.low.map(y), curve.high.map(y));
    const band = area(places, heights[1], heights[2]);
    band.setAttribute("class", k ? "band other" : "band");
    svg.append(band, polyline(places.map((place, step) => [place, heights[0][step]]), { class: kinds[k] }));
  });
  svg.append(word("Time", (46 + width) / 2, height - 10, { class: "name", "text-anchor": "middle" }));
  const known = pair.flatMap((curve, k) => (curve === null ? [] : [[curve, names[k]]]));
  const rows = known.map(([curve, name]) => [name, grouped(curve.n_rows), grouped(curve.n_events), ...curve.at_risk.map(grouped)]);
  const told = known.map(([curve, name]) => `${name === names[0] ? "blue" : "red"}: ${name} (${plural(curve.n_rows, "row")}, ${plural(curve.n_events, "event")})`);
  const words = `: share without an event (Kaplan-Meier, 95 % bands), ${report.survival.rows}; ${told.join(", ")}`;
  const caption = element("figcaption", {}, element("strong", {}, brief(entry.text, 120)), words);
  return element("figure", {}, caption, svg, numbers(["Rows", "Number", "Events", ...moments.map((moment) => `At risk at ${show(moment, 3)}`)], rows));
}

// The corners of a step function, with its limits.
function stairs(places, ...heights) {
  const twice = (values, shift) => values.flatMap((value, k) => (k === 0 ? [value] : shift ? [values[k - 1], value] : [value, value]));
  return [twice(places, false), ...heights.map((own) => twice(own, true))];
}

function drawScatter(observed, predicted) {
  const width = Math.min(chartWidth(byId("check-parts")), 520);
  const domain = extent([...observed, ...predicted], 0.03);
  const shown = ticks(...domain, 5);
  const left = axisRoom(shown);
  const svg = canvas(width, width, `Predicted against observed target of ${grouped(observed.length)} rows.`);
  const x = scale(domain, [left, width - 12]);
  const y = scale(domain, [width - 46, 12]);
  drawHeightAxis(svg, y, shown, left, width - 12);
  drawWidthAxis(svg, x, shown, width - 46);
  svg.append(shape("line", { x1: x(domain[0]), y1: y(domain[0]), x2: x(domain[1]), y2: y(domain[1]), class: "ideal" }));
  observed.forEach((value, k) => svg.append(shape("circle", { cx: x(value), cy: y(predicted[k]), r: 2.6, class: "speck" })));
  svg.append(word("Observed", (left + width) / 2, width - 10, { class: "name", "text-anchor": "middle" }));
  const drawn = observed.length < report.n_given ? `, a draw of ${grouped(observed.length)} from the ${countGiven(report.n_given)}` : `, ${report.given_name}`;
  const rows = observed.map((value, k) => [show(value), show(predicted[k])]);
  return element("figure", {}, element("figcaption", {}, `${capitalised(scoreName())}: predicted (height) against observed (width)${drawn}`), svg, numbers(["Observed", "Predicted"], rows));
}

// Rules tested on rows that did not choose them.

function showEvidence() {
  const evidence = report.evidence;
  byId("evidence").hidden = evidence === null;
  byId("evidence-link").hidden = evidence === null;
  if (evidence === null) return;
  byId("evidence-about").replaceChildren(...evidence.sentences.map((sentence) => element("p", {}, sentence)));
  const verdict = evidence.heads.indexOf("verdict");
  const badge = (text) => element("span", { class: text === "suggestion" ? "badge" : "badge firm" }, text);
  const lines = evidence.lines.map((cells) => cells.map((text, k) => (k === verdict ? badge(text) : text)));
  byId("evidence-table").replaceChildren(lines.length ? table(evidence.heads, lines) : "");
}

// Votes of a selector.

function showEdits() {
  const edits = report.edits;
  byId("edits").hidden = edits === null;
  byId("edits-link").hidden = edits === null;
  if (edits === null) return;
  byId("edits-about").textContent = edits.words;
  const rows = edits.rows.map((texts) => texts.map((text) => element("span", { class: "lines" }, text)));
  byId("edits-list").replaceChildren(table(edits.heads, rows));
}

function showVotes() {
  const votes = report.votes;
  byId("votes").hidden = votes === null;
  byId("votes-link").hidden = votes === null;
  if (votes === null) return;
  byId("votes-about").textContent = votes.words;
  const rows = votes.names.map((name, k) => [
    name, bar(votes.votes[k], votes.n_repeats), `${votes.votes[k]} of ${votes.n_repeats}`, percent(votes.importances[k]), votes.kept[k] ? "kept" : "left out",
  ]);
  byId("votes-bars").replaceChildren(
    element("div", { class: "scroll", role: "region", "aria-label": "Votes", tabindex: "0" }, table(["Attribute", "Votes", "Number", "Importance", "Decision"], rows, { class: "bars" })),
  );
}

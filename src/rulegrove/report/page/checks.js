// The chosen model on the rows given: partial dependence, classes, probabilities, predictions; and the votes.

const NO_ROWS = "The report was made without a table of rows, so this part is left out.";
const NO_TARGET = "The rows were given without their target, so this part is left out.";

// Partial dependence.

function showDependence() {
  const curves = report.dependence;
  const box = byId("dependence-charts");
  if (curves === null || !curves.length) {
    byId("dependence-about").textContent = curves === null ? NO_ROWS : "The chosen model uses no attribute.";
    return;
  }
  const what = scoreName();
  byId("dependence-about").textContent =
    `Mean ${what} of the chosen model ${aboutGiven()}, were one attribute the same in all of them; the slider does not move it. ` +
    "Ticks at the bottom are the deciles of the attribute. All charts share one height axis.";
  const domain = extent(curves.flatMap((curve) => curve.values[state.output]));
  const width = dependenceWidth(box);
  box.replaceChildren(...curves.map((curve) => drawCurve(curve, domain, what, width)));
}

function dependenceWidth(box) {
  const columns = Math.max(Math.floor(box.clientWidth / 330), 1);
  return Math.max(Math.floor((box.clientWidth - 20 * (columns - 1)) / columns), 240);
}

function drawCurve(curve, domain, what, width) {
  const name = report.features[curve.feature];
  const values = curve.values[state.output];
  const shown = ticks(...domain, 4);
  const left = axisRoom(shown);
  const height = 190;
  const range = `from ${show(Math.min(...values))} to ${show(Math.max(...values))}`;
  const svg = canvas(width, height, `Mean ${what} over ${name}: ${range}.`);
  const y = scale(domain, [height - 34, 10]);
  drawHeightAxis(svg, y, shown, left, width - 10);
  if (curve.categories) drawCategories(svg, curve.grid, values, y, left, width);
  else drawLine(svg, curve, values, y, left, width, height);
  const rows = curve.grid.map((point, k) => [typeof point === "string" ? point : show(point), show(values[k])]);
  return element("figure", {}, element("figcaption", {}, name), svg, numbers([name, "Mean " + what], rows));
}

function drawLine(svg, curve, values, y, left, width, height) {
  const domain = [curve.grid[0], curve.grid[curve.grid.length - 1]];
  const x = scale(domain, [left + 6, width - 16]);
  drawWidthAxis(svg, x, ticks(...domain, Math.max(Math.floor(width / 80), 2)), height - 34);
  for (const decile of curve.deciles) svg.append(shape("line", { x1: x(decile), x2: x(decile), y1: height - 34, y2: height - 41, class: "axis" }));
  svg.append(polyline(curve.grid.map((point, k) => [x(point), y(values[k])]), { class: "line" }));
}

function drawCategories(svg, labels, values, y, left, width) {
  const step = (width - 10 - left) / labels.length;
  const letters = Math.floor(step / LETTER) - 1;
  values.forEach((value, k) => {
    const middle = left + (k + 0.5) * step;
    svg.append(shape("line", { x1: middle - 0.35 * step, x2: middle + 0.35 * step, y1: y(value), y2: y(value), class: "line" }));
    if (letters > 1 || labels.length < 12) svg.append(word(clipped(labels[k], Math.max(letters, 2)), middle, 173, { "text-anchor": "middle" }));
  });
}

// Classes and probabilities, or numbers.

function showCheck() {
  const check = report.check;
  if (check === null) {
    byId("check-about").textContent = report.n_given === null ? NO_ROWS : NO_TARGET;
    return;
  }
  const still = " This is the chosen model; the slider does not move it.";
  if (report.classes === null) {
    const share = check.explained === null ? "" : `, and the predictions explain ${percent(check.explained)} of the target's variance`;
    byId("check-about").textContent =
      `The root mean square error ${aboutGiven()} is ${show(check.root_mean_square)}, the mean absolute error ${show(check.mean_absolute)}${share}.` + still;
    byId("check-parts").replaceChildren(drawScatter(check));
    return;
  }
  byId("check-about").textContent = `${percent(check.error)} of the predictions ${aboutGiven()} are wrong.` + still;
  byId("check-parts").replaceChildren(makeConfusion(check.counts), drawCalibration(check.calibration[state.output]));
}

function makeConfusion(counts) {
  const head = element("tr", {}, element("th", { scope: "col" }, "True class"), ...report.classes.map((name) => element("th", { scope: "col" }, name)));
  const rows = counts.map((own, place) => {
    const total = own.reduce((sum, count) => sum + count, 0);
    const cells = own.map((count, other) => makeCount(count, total, place === other));
    return element("tr", {}, element("th", { scope: "row" }, report.classes[place]), ...cells);
  });
  const made = element("table", { class: "confusion" }, element("thead", {}, head), element("tbody", {}, ...rows));
  const caption = element("figcaption", {}, "Confusion: rows are the true classes, columns the predicted ones");
  return element("figure", {}, caption, element("div", { class: "scroll", role: "region", "aria-label": "Confusion matrix", tabindex: "0" }, made));
}

function makeCount(count, total, right) {
  const share = total ? count / total : 0;
  const shade = element("span", { class: right ? "shade right" : "shade wrong", "aria-hidden": "true" });
  shade.style.opacity = 0.35 * share;
  const words = element("span", {}, grouped(count), element("small", {}, ` (${percent(share, 0)})`));
  return element("td", { class: "number" }, shade, words);
}

function drawCalibration(curve) {
  const size = Math.min(dependenceWidth(byId("check-parts")) + 60, 430, chartWidth(byId("check-parts")));
  const name = report.outputs[state.output];
  const svg = canvas(size, size, `Predicted probability of ${name} beside the share that came true; numbers follow.`);
  const place = scale([0, 1], [46, size - 14]);
  const height = scale([0, 1], [size - 46, 12]);
  const fifths = [0, 0.2, 0.4, 0.6, 0.8, 1];
  drawHeightAxis(svg, height, fifths, 46, size - 14);
  drawWidthAxis(svg, place, fifths, size - 46);
  svg.append(shape("line", { x1: place(0), y1: height(0), x2: place(1), y2: height(1), class: "ideal" }));
  curve.predicted.forEach((value, k) => {
    svg.append(shape("line", { x1: place(value), x2: place(value), y1: height(curve.low[k]), y2: height(curve.high[k]), class: "whisker" }));
  });
  svg.append(polyline(curve.predicted.map((value, k) => [place(value), height(curve.observed[k])]), { class: "line" }));
  curve.predicted.forEach((value, k) => svg.append(shape("circle", { cx: place(value), cy: height(curve.observed[k]), r: 4, class: "dot" })));
  svg.append(word("Predicted probability", (46 + size - 14) / 2, size - 10, { class: "name", "text-anchor": "middle" }));
  const rows = curve.predicted.map((value, k) => [
    percent(value), percent(curve.observed[k]), `${percent(curve.low[k], 0)} to ${percent(curve.high[k], 0)}`, grouped(curve.sizes[k]),
  ]);
  const caption = `Calibration: how often ${name} came true (height) where it had a probability (width), with 95 % intervals`;
  return element("figure", {}, element("figcaption", {}, caption), svg, numbers(["Predicted", "Came true", "Interval", "Rows"], rows));
}

function drawScatter(check) {
  const width = Math.min(chartWidth(byId("check-parts")), 520);
  const domain = extent([...check.observed, ...check.predicted], 0.03);
  const shown = ticks(...domain, 5);
  const left = axisRoom(shown);
  const svg = canvas(width, width, `Predicted against observed target of ${check.observed.length} rows.`);
  const x = scale(domain, [left, width - 12]);
  const y = scale(domain, [width - 46, 12]);
  drawHeightAxis(svg, y, shown, left, width - 12);
  drawWidthAxis(svg, x, shown, width - 46);
  svg.append(shape("line", { x1: x(domain[0]), y1: y(domain[0]), x2: x(domain[1]), y2: y(domain[1]), class: "ideal" }));
  check.observed.forEach((value, k) => svg.append(shape("circle", { cx: x(value), cy: y(check.predicted[k]), r: 2.6, class: "speck" })));
  svg.append(word("Observed", (left + width) / 2, width - 10, { class: "name", "text-anchor": "middle" }));
  const drawn = check.observed.length < report.n_given ? `, a draw of ${check.observed.length} rows` : "";
  const rows = check.observed.map((value, k) => [show(value), show(check.predicted[k])]);
  return element("figure", {}, element("figcaption", {}, `Predicted (height) against observed (width)${drawn}`), svg, numbers(["Observed", "Predicted"], rows));
}

// Votes of a selector.

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

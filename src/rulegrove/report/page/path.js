// The path: error and number of terms at each point, and the slider that chooses one.

const PATH = { errors: 190, counts: 84, gap: 26, top: 22, bottom: 44 };
let moveMark = () => {};

function capitalised(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function tellPath() {
  const track = currentTrack();
  const sentences = [
    "Each point of the path is a model: to the left those of few terms, to the right those of many. " +
      "The slider below chooses one, and the tables follow it.",
  ];
  if (track.standard_errors !== null) sentences.push("The band is one standard error of the folds wide on either side.");
  if (track.error_name.startsWith("training")) {
    sentences.push("The point was given and not chosen, so the error is that of the training rows, which falls as terms come in.");
  }
  sentences.push(...tellClasses(), ...tellGaps(track));
  byId("path-about").textContent = sentences.join(" ");
}

function tellClasses() {
  if (tracks.length === 1) return [];
  if (report.together) return ["All classes share one path and move together; the class only decides whose coefficients are shown."];
  return [`Each class has a path of its own: the slider moves the ${scoreName()} alone, and the other classes stay at their own points.`];
}

function tellGaps(track) {
  const kept = track.terms.length;
  const densest = Math.max(...track.terms.map((own) => own.length));
  if (kept === track.n_points) return [];
  const words = [`${grouped(kept)} of the ${grouped(track.n_points)} points are kept here.`];
  if (track.densest > densest) words.push(`Those of more than ${grouped(densest)} terms (up to ${grouped(track.densest)}) are left out to keep the page small.`);
  return words;
}

// The drawing.

function drawPath() {
  const track = currentTrack();
  const box = byId("path-chart");
  const width = chartWidth(box);
  const counts = track.terms.map((own) => own.length);
  const spread = track.standard_errors || track.errors.map(() => 0);
  const edges = track.errors.flatMap((error, k) => (error === null ? [] : [error - (spread[k] || 0), error + (spread[k] || 0)]));
  const errorDomain = extent(edges);
  const errorTicks = ticks(...errorDomain, 5);
  const countTicks = ticks(0, Math.max(...counts, 1), 3).filter(Number.isInteger);
  const left = Math.max(axisRoom(errorTicks), axisRoom(countTicks));
  const bottom = PATH.top + PATH.errors;
  const floor = bottom + PATH.gap + PATH.counts;
  const svg = canvas(width, floor + PATH.bottom, labelPath(track));
  const x = scale([0, Math.max(track.errors.length - 1, 1)], [left, width - 12]);
  const y = scale(errorDomain, [bottom, PATH.top]);
  const z = scale([0, Math.max(...counts, 1)], [floor, bottom + PATH.gap]);
  drawHeightAxis(svg, y, errorTicks, left, width - 12);
  drawHeightAxis(svg, z, countTicks, left, width - 12);
  svg.append(label(capitalised(track.error_name), (width - 8) / LETTER, 2, 12, { class: "name" }));
  svg.append(word("Number of terms", 2, bottom + PATH.gap - 8, { class: "name" }));
  if (track.standard_errors !== null) svg.append(drawBand(track, x, y));
  svg.append(polyline(track.errors.map((error, k) => [x(k), error === null ? null : y(error)]), { class: "line" }));
  svg.append(drawSteps(counts, x, z, floor));
  drawChosen(svg, track, x, y, floor);
  drawPathAxis(svg, track, x, floor, width);
  svg.append(makeMark(track, counts, x, y, z, floor));
  svg.addEventListener("click", (event) => pointAt(event, svg, x, width));
  box.replaceChildren(svg);
  moveMark();
}

function labelPath(track) {
  const least = track.errors.reduce((best, error, k) => (error !== null && error < track.errors[best] ? k : best), 0);
  return (
    `${capitalised(track.error_name)} and number of terms along the path. Least error ${show(track.errors[least])} with ` +
    `${plural(countTerms(track, least), "term")}; chosen: ${show(track.errors[track.chosen])} with ${plural(countTerms(track, track.chosen), "term")}.`
  );
}

function drawBand(track, x, y) {
  const places = track.errors.map((_, k) => k).filter((k) => track.errors[k] !== null && track.standard_errors[k] !== null);
  const edge = (k, sign) => `${x(k).toFixed(2)} ${y(track.errors[k] + sign * track.standard_errors[k]).toFixed(2)}`;
  const around = [...places.map((k) => edge(k, 1)), ...places.reverse().map((k) => edge(k, -1))];
  return shape("path", { d: around.length ? "M" + around.join("L") + "Z" : "", class: "band" });
}

function drawSteps(counts, x, z, floor) {
  const corners = counts.flatMap((count, k) => [
    [x(Math.max(k - 0.5, 0)), z(count)],
    [x(Math.min(k + 0.5, counts.length - 1)), z(count)],
  ]);
  const line = corners.map(([a, b]) => `${a.toFixed(2)} ${b.toFixed(2)}`).join("L");
  return shape("path", { d: `M${corners[0][0].toFixed(2)} ${floor}L${line}L${corners[corners.length - 1][0].toFixed(2)} ${floor}Z`, class: "steps" });
}

function drawChosen(svg, track, x, y, floor) {
  const place = x(track.chosen);
  svg.append(shape("line", { x1: place, x2: place, y1: PATH.top, y2: floor, class: "chosen" }));
  const error = track.errors[track.chosen];
  if (error !== null) svg.append(shape("circle", { cx: place, cy: y(error), r: 5, class: "dot" }));
  const right = place > x(0) + 70;
  svg.append(word("chosen", place + (right ? -7 : 7), PATH.top + 10, { "text-anchor": right ? "end" : "start" }));
}

function drawPathAxis(svg, track, x, floor, width) {
  const wanted = Math.min(Math.max(Math.floor(width / 110), 2), 7, track.values.length);
  const last = track.values.length - 1;
  const places = [...new Set(Array.from({ length: wanted }, (_, k) => Math.round((k * last) / Math.max(wanted - 1, 1))))];
  for (const k of places) {
    const anchor = k === last && last > 0 ? "end" : "middle";
    svg.append(shape("line", { x1: x(k), x2: x(k), y1: floor, y2: floor + 4, class: "axis" }));
    svg.append(word(show(track.values[k], 3), x(k) + (anchor === "end" ? 8 : 0), floor + 17, { "text-anchor": anchor }));
  }
  svg.append(word(track.parameter, (x(0) + x(last)) / 2, floor + 36, { class: "name", "text-anchor": "middle" }));
}

function makeMark(track, counts, x, y, z, floor) {
  const line = shape("line", { y1: PATH.top, y2: floor, class: "mark" });
  const onError = shape("circle", { r: 5.5, class: "mark-dot" });
  const onCount = shape("circle", { r: 4.5, class: "mark-dot" });
  moveMark = () => {
    const k = currentPoint();
    line.setAttribute("x1", x(k));
    line.setAttribute("x2", x(k));
    onError.setAttribute("cx", x(k));
    onError.setAttribute("cy", y(track.errors[k] === null ? 0 : track.errors[k]));
    onCount.setAttribute("cx", x(k));
    onCount.setAttribute("cy", z(counts[k]));
  };
  return shape("g", {}, line, onError, onCount);
}

function pointAt(event, svg, x, width) {
  const inside = ((event.clientX - svg.getBoundingClientRect().left) / svg.getBoundingClientRect().width) * width;
  const last = currentTrack().errors.length - 1;
  const step = last > 0 ? (x(last) - x(0)) / last : 1;
  goTo(Math.min(Math.max(Math.round((inside - x(0)) / step), 0), last));
}

function listPath() {
  const track = currentTrack();
  const spread = track.standard_errors;
  const rows = track.errors.map((error, k) => [
    String(k + 1) + (k === track.chosen ? " (chosen)" : ""),
    show(track.values[k]),
    grouped(countTerms(track, k)),
    show(error),
    spread === null ? "–" : show(spread[k]),
  ]);
  byId("path-numbers").replaceChildren(numbers(["Point", track.parameter, "Terms", capitalised(track.error_name), "Standard error"], rows));
}

// The words of a point.

function tellPoint() {
  const track = currentTrack();
  const k = currentPoint();
  const error = track.errors[k];
  const spread = track.standard_errors === null ? null : track.standard_errors[k];
  const whose = tracks.length > 1 ? `Class ${report.outputs[state.output]}: ` : "";
  const here =
    `${whose}${plural(countTerms(track, k), "term")}, ${track.error_name} ${show(error)}` + (spread === null ? "" : ` ± ${show(spread, 2)}`) + ". ";
  return here + (isChosen() ? "This is the chosen point." : compareWithChosen(track, k));
}

function compareWithChosen(track, k) {
  const fewer = countTerms(track, track.chosen) - countTerms(track, k);
  const size = fewer === 0 ? "As many terms as" : `${plural(Math.abs(fewer), "term")} ${fewer > 0 ? "fewer" : "more"} than`;
  const before = track.errors[track.chosen];
  const after = track.errors[k];
  if (before === null || after === null) return `${size} at the chosen point.`;
  const parts = [`${signed((100 * (after - before)) / before, 2)} %`];
  const unit = track.standard_errors === null ? null : track.standard_errors[track.chosen];
  if (unit) parts.push(`${show(Math.abs(after - before) / unit, 2)} standard errors`);
  const change = after === before ? "the same error" : `error ${after > before ? "up" : "down"} by ${show(Math.abs(after - before), 3)} (${parts.join(", ")})`;
  return `${size} at the chosen point, ${change}${compareExplained(track, before, after)}.`;
}

function compareExplained(track, before, after) {
  if (track.empty_error === null || track.standard_errors === null) return "";
  const now = 1 - after / track.empty_error;
  const then = 1 - before / track.empty_error;
  return `; ${percent(now)} less error than without any term instead of ${percent(then)} (${signed(100 * (now - then), 2)} points)`;
}

function showPoint() {
  const words = tellPoint();
  byId("point-words").textContent = words;
  const slider = byId("point");
  slider.max = currentTrack().errors.length - 1;
  slider.value = currentPoint();
  slider.setAttribute("aria-valuetext", words);
  byId("back").disabled = isChosen();
  moveMark();
}

function goTo(point) {
  if (report.together) state.points.fill(point);
  else state.points[state.output] = point;
  showModel();
}

// Elements, numbers and drawings. Text from data is only ever set as text, so that no name can become markup.

const SVG = "http://www.w3.org/2000/svg";
const LETTER = 6.6; // width of a letter of a chart, about
const BAND = "9 of 10 lists from other rows"; // what bands and whiskers of the rules are

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function shape(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function byId(id) {
  return document.getElementById(id);
}

// Numbers as words, with a true minus.

function show(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const rounded = Number(value.toPrecision(digits));
  const large = Math.abs(rounded) >= 1e4 && Math.abs(rounded) < 1e15;
  return (large ? grouped(rounded) : String(rounded)).replace("-", "−").replace("e+", "e");
}

function signed(value, digits = 4) {
  return value > 0 ? "+" + show(value, digits) : show(value, digits);
}

function percent(value, digits = 1) {
  return value === null ? "–" : (100 * value).toFixed(digits).replace("-", "−") + " %";
}

function grouped(count) {
  return count.toLocaleString("en");
}

function plural(count, noun) {
  return grouped(count) + " " + noun + (count === 1 ? "" : "s");
}

function clipped(text, letters) {
  const all = Array.from(text);
  return all.length <= letters ? text : all.slice(0, Math.max(letters - 1, 1)).join("") + "…";
}

// Scales and axes.

function scale(domain, range) {
  const width = domain[1] - domain[0] || 1;
  return (value) => range[0] + ((value - domain[0]) / width) * (range[1] - range[0]);
}

function ticks(low, high, wanted) {
  if (!(high > low)) return [low];
  const power = 10 ** Math.floor(Math.log10((high - low) / wanted));
  const distance = (factor) => Math.abs((high - low) / (factor * power) - wanted);
  const step = power * [1, 2, 5, 10].reduce((best, factor) => (distance(factor) < distance(best) ? factor : best));
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) found.push(Number((k * step).toPrecision(12)));
  return found;
}

function extent(values, share = 0.06) {
  const known = values.filter((value) => value !== null);
  if (!known.length) return [0, 1];
  const low = Math.min(...known);
  const high = Math.max(...known);
  const room = (high - low) * share || Math.abs(high) * share || 1;
  return [low - room, high + room];
}

function canvas(width, height, label) {
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  svg.style.maxWidth = width + "px";
  return svg;
}

function word(text, x, y, attributes = {}) {
  return shape("text", { x, y, ...attributes }, text);
}

// A word of a chart that is cut where it would not fit, with the whole of it on hovering.
function label(text, letters, x, y, attributes = {}) {
  const shown = clipped(text, letters);
  const node = word(shown, x, y, attributes);
  if (shown !== text) node.append(shape("title", {}, text));
  return node;
}

function polyline(points, attributes) {
  const parts = [];
  let open = false;
  for (const [x, y] of points) {
    const known = x !== null && y !== null && Number.isFinite(y);
    if (known) parts.push(`${open ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`);
    open = known;
  }
  return shape("path", { d: parts.join(""), fill: "none", ...attributes });
}

// What lies between two curves.
function area(places, low, high) {
  const edge = (heights) => places.map((place, k) => `${place.toFixed(2)} ${heights[k].toFixed(2)}`);
  return shape("path", { d: "M" + [...edge(high), ...edge(low).reverse()].join("L") + "Z", class: "band" });
}

function drawHeightAxis(svg, place, values, x0, x1) {
  for (const value of values) {
    svg.append(shape("line", { x1: x0, x2: x1, y1: place(value), y2: place(value), class: "rule" }));
    svg.append(word(show(value), x0 - 6, place(value) + 4, { "text-anchor": "end" }));
  }
}

function axisRoom(values) {
  return 12 + LETTER * Math.max(...values.map((value) => show(value).length));
}

function drawWidthAxis(svg, place, values, y, describe = show) {
  for (const value of values) {
    svg.append(shape("line", { x1: place(value), x2: place(value), y1: y, y2: y + 4, class: "axis" }));
    svg.append(word(describe(value), place(value), y + 17, { "text-anchor": "middle" }));
  }
}

// Bars and tables of the page itself.

function bar(value, largest, diverging = false) {
  const part = element("span", { class: value < 0 ? "negative" : "positive" });
  const width = largest > 0 ? (100 * Math.abs(value)) / largest / (diverging ? 2 : 1) : 0;
  part.style.width = width + "%";
  part.style.left = (diverging ? (value < 0 ? 50 - width : 50) : 0) + "%";
  return element("span", { class: diverging ? "bar middle" : "bar", "aria-hidden": "true" }, part);
}

// A bar with a whisker from one value to another.
function barWithWhisker(value, ends, largest) {
  const whisker = element("span", { class: "ends" });
  whisker.style.left = (100 * ends[0]) / largest + "%";
  whisker.style.width = (100 * (ends[1] - ends[0])) / largest + "%";
  const made = bar(value, largest);
  made.append(whisker);
  return made;
}

// What bands and whiskers are, beside a small one of each kind.
function legend(...kinds) {
  const signs = kinds.map((kind) => element("span", { class: "sign " + kind, "aria-hidden": "true" }));
  return element("span", { class: "legend" }, ...signs, BAND + " (known at the chosen length)");
}

// Words of a table, likewise.
function brief(text, letters) {
  const shown = clipped(text, letters);
  return shown === text ? text : element("span", { title: text }, shown);
}

function table(heads, rows, attributes = {}) {
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
  const body = rows.map((cells) => element("tr", {}, ...cells.map((cell) => element("td", {}, cell))));
  return element("table", attributes, element("thead", {}, head), element("tbody", {}, ...body));
}

function numbers(heads, rows) {
  const inside = element("div", { class: "scroll", role: "region", "aria-label": "Numbers", tabindex: "0" }, table(heads, rows));
  return element("details", {}, element("summary", {}, "Numbers"), inside);
}

function chartWidth(box) {
  return Math.max(Math.floor(box.clientWidth), 240);
}

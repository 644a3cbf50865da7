// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shows the data of python/attn/_lab.py. What is chosen is the state; every change of it goes through `choose`.
"use strict";
(() => {
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const pooled = data.pooled;

// ---- Reading

const half = (c) => {
  const sign = c & 0x8000 ? -1 : 1, exponent = (c >> 10) & 31, fraction = c & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * fraction / 1024);
};
const product = (list) => list.reduce((a, b) => a * b, 1);
function nested(flat, shape, at = 0) {
  if (shape.length === 1) return flat.subarray(at, at + shape[0]);
  const size = product(shape.slice(1));
  return Array.from({length: shape[0]}, (_, i) => nested(flat, shape.slice(1), at + i * size));
}
function read(x) {
  if (Array.isArray(x)) return x.map(read);
  if (x === null || typeof x !== "object") return x === null ? -Infinity : Number(x);
  const {buffer} = Uint8Array.from(atob(x.base64), (c) => c.charCodeAt(0));
  const flat = x.packed === "f2" ? Float32Array.from(new Uint16Array(buffer), half) : new Float32Array(buffer);
  return nested(flat.map((y) => y * x.unit), x.shape);
}
const isRounded = data.weights.packed === "f2";
for (const name of ["query", "key", "value", "scores", "scaled", "weights", "out"]) data[name] = read(data[name]);
data.masked = data.masked && read(data.masked);
if (pooled) pooled.map = read(pooled.map);

const {queries, keys} = data.tokens;
const repeated = (labels) => { const seen = new Set(labels.filter((t, i) => labels.indexOf(t) !== i)); return (i) => seen.has(labels[i])
    ? `${labels[i]} (${i})` : labels[i]; };
const queryName = repeated(queries), keyName = repeated(keys);
const state = {head: 0, query: pooled ? pooled.rows.at(-1) : queries.length - 1, key: 0, step: 0};
const rowOf = (query) => pooled ? pooled.rows.indexOf(query) : query;
const at = (name) => data[name][state.head][rowOf(state.query)];
const sees = (query, key) => !data.mask || data.mask[data.mask.length > 1 ? state.head : 0][rowOf(query)][key] === "1";
const isVisible = (key) => sees(state.query, key);
const maskedScore = (key) => data.masked ? at("masked")[key] : isVisible(key) ? at("scaled")[key] : -Infinity;
const strongest = (row, n) => [...row.keys()].sort((a, b) => row[b] - row[a] || a - b).slice(0, n);
const vector = (name, key) => {
  if (!pooled) return data[name][Math.floor(state.head * data[name].length / data.heads)][key];
  return data[name][state.head][rowOf(state.query)][pooled.keys[state.head][rowOf(state.query)].indexOf(key)];
};
/** The keys that fit on the page, in their order. */
function listed() {
  if (pooled) return pooled.keys[state.head][rowOf(state.query)];
  if (keys.length <= 24) return [...keys.keys()];
  return [...new Set([...strongest(at("weights"), 16), state.key])].sort((a, b) => a - b);
}

// ---- Writing

function el(tag, properties = {}, ...children) {
  const made = tag.startsWith("svg:") ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4)) : document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) made.style.setProperty(name, value);
    else if (value !== false && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat(3));
  return made;
}
function num(x) {
  if (x === -Infinity) return "−∞";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "NaN";
  if (x === 0) return "0";
  const size = Math.abs(x);
  let text = size < 0.0005 || size >= 1e5 ? x.toExponential(1) : isRounded || size >= 100 ? x.toPrecision(Math.max(3,
      Math.ceil(Math.log10(size + 1)))) : x.toFixed(3);
  return text.replace(/-/g, "−");
}
const hundredths = (x) => Math.abs(x) < 0.005 ? "0" : x.toFixed(2).replace("0.", ".");
const factor = (x) => num(x).startsWith("−") ? `(${num(x)})` : num(x);
const v = (name, index) => [el("var", {}, name), index === undefined ? [] : el("sub", {}, index)];
const result = (x) => el("b", {}, typeof x === "string" ? x : num(x));
const fraction = (over, under) => el("span", {class: "frac"}, el("span", {}, over), el("span", {class: "unseen"}, " over "), el("span",
    {}, under));
const power = (x) => ["e", el("sup", {}, num(x))];
const plus = (terms) => terms.flatMap((t, i) => i ? [" + ", t] : [t]);
const short = (text, n = 14) => text.length > n ? text.slice(0, n - 1) + "…" : text;
const plural = (n, word, more = word + "s") => `${n} ${n === 1 ? word : more}`;

// ---- The five steps

function dotProduct(a, b, size) {
  const shown = Math.min(a.length, size > 6 ? 4 : 6);
  const terms = Array.from({length: shown}, (_, i) => `${num(a[i])} × ${factor(b[i])}`);
  if (size > shown) terms.push(`… (${size - shown} more)`);
  return plus(terms);
}
function softmaxNumbers(key) {
  if (data.normalization === "sigmoid") return fraction("1", ["1 + ", "e", el("sup", {}, "−", factor(maskedScore(key)))]);
  const visible = listed().filter(isVisible);
  const shown = keys.length <= 6 ? visible : strongest(at("weights"), 4).filter((k) => visible.includes(k)).sort((a, b) => a - b);
  const terms = shown.map((k) => power(maskedScore(k)));
  return fraction(isVisible(key) ? power(maskedScore(key)) : "0",
      plus(shown.length < visible.length || pooled ? [...terms, "…"] : terms));
}
function contextNumbers() {
  const w = at("weights"), out = at("out");
  const used = keys.length <= 6 ? listed().filter((k) => w[k] !== 0) : strongest(w, 3).filter((k) => w[k] !== 0).sort((a, b) => a - b);
  const isAll = keys.length <= 6;
  const lines = Array.from({length: Math.min(out.length, 4)}, (_, f) => {
    const terms = used.map((k) => `${num(w[k])} × ${factor(vector("value", k)[f])}`);
    return el("p", {class: "formula"}, v("o", f + 1), " = ", plus(isAll ? terms : [...terms, "…"]), used.length || !isAll ? " = " : "",
        result(out[f]));
  });
  if (data.value_dim > lines.length) lines.push(el("p", {class: "note"}, `and ${plural(data.value_dim - lines.length, "more feature")}.`));
  return lines;
}
const pair = () => `${short(queryName(state.query))}, ${short(keyName(state.key))}`;
const steps = [
  {name: "Scores", text: () => "A query and a key are compared: the products of their features are added up.",
    formula: () => [v("s"), " = ", v("q"), " · ", v("k")],
    numbers: () => [v("s", pair()), " = ", dotProduct(at("query"), vector("key", state.key), data.dim), " = ",
        result(at("scores")[state.key])]},
  {name: "Scale", text: () => "Long vectors have large products. The scale brings them to a common size, whatever the dimension.",
    formula: () => [v("x"), " = ", v("s"), " × scale"],
    numbers: () => [v("x", pair()), " = ", num(at("scores")[state.key]), ` × ${factor(data.scale)} = `, result(at("scaled")[state.key])]},
  {name: "Mask", text: () => !data.mask && !data.masked ? "This attention has no mask: every query sees every key." :
      `An excluded pair gets the score −∞. “${queryName(state.query)}” ${isVisible(state.key) ? "sees" : "does not see"} “${keyName(state.key)}”.` +
      (data.masked ? " Bias and score function have changed the visible ones." : ""),
    formula: () => [v("m"), " = ", data.masked ? ["f(", v("x"), ")"] : v("x"), " if the pair is visible, else −∞"],
    numbers: () => [v("m", pair()), " = ", result(maskedScore(state.key)), isVisible(state.key) ? " (visible)" : " (excluded)"]},
  {name: "Softmax", text: () => data.normalization === "sigmoid" ? "Each score becomes a weight by itself, between 0 and 1." :
      "Exponentials make all scores positive; divided by their sum they are weights that add up to 1.",
    formula: () => data.normalization === "sigmoid" ? [v("w"), " = ", fraction("1", ["1 + e", el("sup", {}, "−", v("m"))])] :
      [v("w"), " = ", fraction(["e", el("sup", {}, v("m"))], ["sum of e", el("sup", {}, v("m")), " over the keys"])],
    numbers: () => [v("w", pair()), " = ", at("weights").some((w) => w !== 0) ? [softmaxNumbers(state.key), " = "] : [],
        result(at("weights")[state.key])]},
  {name: "Context", text: () => at("weights").some((w) => w !== 0)
      ? `The values of the keys are mixed in proportion to their weights: that is what “${queryName(state.query)}” takes along.` :
      "This query sees no key: its weights and its context are 0.",
    formula: () => [v("o"), " = sum of ", v("w"), " × ", v("v"), " over the keys"], numbers: () => []},
];
function panel(step, i) {
  const last = i === steps.length - 1;
  const numbers = last ? contextNumbers() : el("p", {class: "formula"}, step.numbers());
  return el("div", {class: "panel", hidden: i !== state.step && ""},
    el("h3", {}, `${i + 1}. ${step.name}`), el("p", {}, step.text()), el("p", {class: "formula"}, step.formula()), last ? flow() : [],
        numbers,
    last ? el("p", {}, el("button", {type: "button", id: "again", onclick: play}, "Play again")) : []);
}
function drawSteps() {
  byId("panels").replaceChildren(...steps.map(panel));
  [...byId("stepper").querySelectorAll("button")].forEach((b, i) => i === state.step ? b.setAttribute("aria-current", "step")
      : b.removeAttribute("aria-current"));
  byId("back").disabled = state.step === 0;
  byId("next").disabled = state.step === steps.length - 1;
  byId("sheet").replaceChildren(sheet());
  if (state.step === steps.length - 1) play();
}
function say() {
  const step = steps[state.step], numbers = state.step === 4 ? [num(at("out")[0])] : step.numbers();
  byId("say").textContent = `Step ${state.step + 1} of 5, ${step.name}. ${step.text()} ${el("span", {}, numbers).textContent}`;
}

// ---- One query: its keys as a table, and its weights as a picture

function sheet() {
  const shown = listed(), w = at("weights"), out = at("out");
  const largest = Math.max(...w) || 1;
  const classes = (i, more = "") => `${more} ${i === state.step ? "now" : i > state.step ? "later" : ""}`.trim();
  const cell = (i, ...content) => el("td", {class: classes(i)}, content);
  const values = (x, size) => `${Array.from(x).slice(0, 3).map(num).join(", ")}${size > 3 ? ", …" : ""}`;
  const rows = shown.map((k) => el("tr", {class: k === state.key ? "chosen" : "", onclick: () => choose({key: k})},
    el("th", {scope: "row"}, keyName(k)), cell(0, num(at("scores")[k])), cell(1, num(at("scaled")[k])),
    cell(2, num(maskedScore(k))), cell(3, num(w[k]), el("i", {"--w": Math.max(0, w[k] / largest)})),
    el("td", {class: classes(4, "value")}, values(vector("value", k), data.value_dim))));
  const sum = Array.from(w).reduce((a, b) => a + b, 0);
  const names = ["score", "scaled", "masked", "weight", "value"];
  const text = `Query “${queryName(state.query)}”` + (shown.length < keys.length
      ? `: ${shown.length} of ${keys.length} keys, the strongest` : "");
  return el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "The keys of the query"}, el("table", {class: "sheet"},
    el("caption", {}, text),
    el("thead", {}, el("tr", {}, el("th", {scope: "col"}, "key"), names.map((n, i) => el("th", {scope: "col", class: classes(i)}, n)))),
    el("tbody", {}, rows),
    el("tfoot", {}, el("tr", {}, el("th", {scope: "row"}, "sum, context"), el("td"), el("td"), el("td"), cell(3, num(sum)),
      el("td", {class: classes(4, "value")}, values(out, data.value_dim))))));
}
function flow() {
  const w = at("weights"), out = at("out"), most = 8;
  const shown = w.length <= most ? [...w.keys()] : strongest(w, most).sort((a, b) => a - b);
  const rest = Array.from(w).reduce((a, b) => a + b, 0) - shown.reduce((a, k) => a + w[k], 0);
  const entries = shown.map((k) => [keyName(k), w[k]]);
  if (shown.length < w.length) entries.push([`${w.length - shown.length} others`, Math.max(rest, 0)]);
  const width = Math.min(700, Math.max(300, byId("panels").clientWidth - 50)), height = Math.max(110, entries.length * 34 + 12);
  const left = Math.min(190, width * 0.44), right = width - Math.min(190, width * 0.3), middle = height / 2;
  const picture = el("svg:svg", {class: "flow", viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Weights of ${queryName(state.query)}: ${entries.map(([t, x]) => `${t} ${num(x)}`).join(", ")}`});
  entries.forEach(([label, weight], i) => {
    const y = 23 + i * 34 + (height - 12 - entries.length * 34) / 2;
    const d = `M${left},${y} C${(left + right) / 2},${y} ${(left + right) / 2},${middle} ${right},${middle}`;
    picture.append(el("svg:text", {x: left - 60, y: y + 5, "text-anchor": "end"}, short(label)),
      el("svg:text", {x: left - 8, y: y + 5, "text-anchor": "end", class: "soft"}, num(weight)));
    if (weight > 0) picture.append(el("svg:path", {d, class: "link", "stroke-width": Math.max(1, Math.abs(weight) * 26)}), el("svg:path",
        {d, class: "pulse"}));
  });
  picture.append(el("svg:circle", {cx: right, cy: middle, r: 15, class: "node"}),
    el("svg:text", {x: right + 24, y: middle - 4}, short(queryName(state.query))),
    el("svg:text", {x: right + 24, y: middle + 14, class: "soft"}, `${num(out[0])}${out.length > 1 ? ", …" : ""}`));
  return picture;
}
function play() {
  const picture = document.querySelector(".flow");
  picture.classList.remove("play");
  picture.getBoundingClientRect(); // the animation begins again
  picture.classList.add("play");
}

// ---- Maps

function colours() {
  const canvas = el("canvas", {width: 256, height: 1}), pen = canvas.getContext("2d", {willReadFrequently: true});
  const style = getComputedStyle(document.documentElement);
  for (let i = 0; i < 256; i++) {
    pen.fillStyle = `color-mix(in oklab, ${style.getPropertyValue("--high")} ${i / 2.55}%, ${style.getPropertyValue("--low")})`;
    pen.fillRect(i, 0, 1, 1);
  }
  return pen.getImageData(0, 0, 256, 1).data;
}
function greatest(map) {
  let largest = 0;
  for (const row of map) for (const x of row) if (x > largest) largest = x;
  return largest || 1;
}
/** A cell's style: numbers are black on shades that are light enough for it, and white on others. */
function shadeIn(table, w) {
  const [r, g, b] = table.subarray(4 * Math.round(255 * Math.min(1, w)));
  const linear = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  return {style: `background: rgb(${r}, ${g}, ${b}); color: ${luminance > 0.18 ? "#000" : "#fff"}`};
}
/** Shades of a map whose values reach many magnitudes follow the square root. */
function paint(canvas, map, table, shade) {
  canvas.height = map.length;
  canvas.width = map[0].length;
  const pen = canvas.getContext("2d"), image = pen.createImageData(canvas.width, canvas.height), largest = greatest(map);
  map.forEach((row, y) => row.forEach((x, i) => {
    const c = Math.round(255 * Math.min(1, shade(Math.max(0, x) / largest || 0)));
    image.data.set(table.subarray(4 * c, 4 * c + 4), 4 * (y * canvas.width + i));
  }));
  pen.putImageData(image, 0, 0);
}
const mapOf = (head) => pooled ? pooled.map[head] : data.weights[head];
const shadeOf = (x) => pooled ? Math.sqrt(x) : x;

function drawHeads() {
  const table = colours();
  byId("heads").hidden = data.heads === 1;
  if (data.heads === 1) return;
  byId("heads").replaceChildren(el("legend", {}, "Head"), ...data.weights.map((_, h) => {
    const canvas = el("canvas", {"aria-hidden": "true"});
    paint(canvas, mapOf(h), table, shadeOf);
    const input = el("input", {type: "radio", name: "head", onchange: () => choose({head: h}), checked: h === state.head && ""});
    return el("label", {}, input, canvas, `${h}`);
  }));
}
function drawTable() {
  const weights = data.weights[state.head], largest = greatest(weights), table = colours(), size = keys.length > 24 ? "dense"
      : keys.length > 12 ? "compact" : "";
  const cell = (x, q, k) => {
    const shade = sees(q, k) ? shadeIn(table, Math.max(0, x) / largest || 0) : {class: "excluded"};
    const properties = {...shade, title: `${queryName(q)} → ${keyName(k)}: ${num(x)}`};
    return el("td", {...properties, onclick: () => choose({query: q, key: k})},
      size === "" ? num(x) : [el("span", {class: "unseen"}, num(x)), size === "compact" ? el("span", {"aria-hidden": "true"},
          hundredths(x)) : []]);
  };
  const rows = Array.from(weights, (row, q) => el("tr", {},
    el("th", {scope: "row", onclick: () => choose({query: q})}, queries[q]), Array.from(row, (x, k) => cell(x, q, k)),
    el("td", {class: "sum"}, num(Array.from(row).reduce((a, b) => a + b, 0)))));
  byId("map").replaceChildren(el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Map of weights"},
    el("table", {class: `map ${size}`, "--cell": `${Math.max(0.62, 40 / keys.length)}rem`}, el("caption", {},
        "A row for each query, a column for each key"),
      el("thead", {}, el("tr", {}, el("th", {scope: "col"}, el("span", {class: "unseen"}, "query")), keys.map((t) => el("th",
          {scope: "col"}, t)), el("th", {scope: "col"}, "sum"))),
      el("tbody", {}, rows))));
}

/** The map of many tokens: a window of a picture, which buttons, keys and clicks move. */
function drawLarge() {
  const map = mapOf(state.head), rows = map.length, columns = map[0].length;
  const whole = el("canvas");
  paint(whole, map, colours(), shadeOf);
  const view = {zoom: 1, x: 0.5, y: 0.5};
  const canvas = el("canvas", {class: "large", width: 1024, height: 1024, tabindex: 0, role: "application",
      "aria-label": "Map of weights: plus and minus zoom, arrows move", "aria-describedby": "where"});
  const where = el("p", {class: "note", id: "where", "aria-live": "polite"});
  const draw = () => {
    const width = columns / view.zoom, height = rows / view.zoom, hold = 0.5 / view.zoom;
    view.x = Math.min(1 - hold, Math.max(hold, view.x));
    view.y = Math.min(1 - hold, Math.max(hold, view.y));
    const left = view.x * columns - width / 2, top = view.y * rows - height / 2, pen = canvas.getContext("2d");
    pen.imageSmoothingEnabled = false;
    pen.drawImage(whole, left, top, width, height, 0, 0, 1024, 1024);
    pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--mark");
    const y = (state.query / pooled.block[0] + 0.5 - top) / height * 1024;
    pen.fillRect(0, y - 2, 26, 4);
    pen.fillRect(998, y - 2, 26, 4);
    const range = (from, size, block, count) => `${Math.floor(from * block)} to ${Math.min(count, Math.ceil((from + size) * block)) - 1}`;
    where.textContent = `Queries ${range(top, height, pooled.block[0], queries.length)} from top to bottom, ` +
        `keys ${range(left, width, pooled.block[1], keys.length)} from left to right.`;
  };
  const change = (zoom, x = 0, y = 0) => {
    view.zoom = Math.min(32, Math.max(1, view.zoom * zoom));
    view.x += x / view.zoom;
    view.y += y / view.zoom;
    draw();
  };
  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect();
    change(2, ((event.clientX - box.left) / box.width - 0.5) * 2, ((event.clientY - box.top) / box.height - 0.5) * 2);
  });
  canvas.addEventListener("keydown", (event) => {
    const moves = {"+": [2], "=": [2], "-": [0.5], 0: [1 / 32], ArrowLeft: [1, -0.25], ArrowRight: [1, 0.25], ArrowUp: [1, 0, -0.25],
        ArrowDown: [1, 0, 0.25]};
    if (!(event.key in moves)) return;
    event.preventDefault();
    change(...moves[event.key]);
  });
  const button = (text, zoom) => el("button", {type: "button", onclick: () => change(zoom)}, text);
  byId("map").replaceChildren(canvas, el("div", {class: "zoom"}, button("Zoom in", 2), button("Zoom out", 0.5), button("Whole map",
      1 / 32)), where);
  redrawLarge = draw;
  draw();
}
let redrawLarge = () => {};

function drawMap() {
  const largest = greatest(mapOf(state.head));
  byId("legend").replaceChildren(...[el("span", {class: "note"}, "0"), el("span", {class: "ramp"}),
    el("span", {class: "note"}, `${num(largest)}, the largest weight${pooled ? `; the middle is ${num(largest / 4)}` : ""}`),
    data.mask && !pooled ? [el("span", {class: "swatch"}), el("span", {class: "note"}, "excluded by the mask")] : []].flat());
  pooled ? drawLarge() : drawTable();
}
function markPair() {
  const bodies = pooled ? [] : byId("map").querySelectorAll("tbody tr");
  bodies.forEach((row, q) => {
    row.classList.toggle("chosen", q === state.query);
    row.querySelectorAll("td:not(.sum)").forEach((c, k) => c.classList.toggle("chosen", q === state.query && k === state.key));
  });
  byId("pair").textContent = `“${queryName(state.query)}” gives “${keyName(state.key)}” the weight ${num(at("weights")[state.key])}.`;
}

// ---- Tiles

const TILES = [["skipped", "·"], ["full", "f"], ["edge", "e"]];
function tileTable() {
  const {rows, columns, classes} = data.tiles;
  const cell = (c) => el("td", {class: `tile${c}`}, el("span", {"aria-hidden": "true"}, TILES[c][1]), el("span", {class: "unseen"},
      TILES[c][0]));
  return el("table", {class: "tiles"},
    el("thead", {}, el("tr", {}, el("th", {scope: "col"}, el("span", {class: "unseen"}, "first query")), classes[0].map((_,
        i) => el("th", {scope: "col"}, i * columns)))),
    el("tbody", {}, classes.map((row, i) => el("tr", {}, el("th", {scope: "row"}, i * rows), row.map(cell)))));
}
function tileCanvas() {
  const canvas = el("canvas", {class: "large", role: "img", "aria-label": "Map of tiles: the strongest shade is full, the middle one on the edge"});
  paint(canvas, data.tiles.classes.map((row) => row.map((c) => [0, 1, 0.5][c])), colours(), (x) => x);
  return canvas;
}
function drawTiles() {
  const {rows, columns, classes, bounds} = data.tiles, flat = classes.flat();
  const size = `${plural(rows, "query", "queries")} by ${plural(columns, "key")}`, count = (c) => flat.filter((x) => x === c).length;
  const parts = [byId("tiles-title")];
  if (flat.length === 1) {
    parts.push(el("p", {},
        `One tile of ${size} holds this attention. ` +
        ["No pair in it is visible.", "All its pairs are visible: none is tested.", "Some pairs are excluded: the mask is looked at for each."][flat[0]]));
  } else {
    parts.push(el("p", {},
        `The kernel works on tiles of ${size}. Of ${flat.length}, ${count(0)} are skipped, neither loaded nor computed; ` +
        `${count(1)} are full, so that no pair is tested; ` +
      `on the edge, in ${count(2)}, the mask is looked at for each pair. Rows and columns are named by their first query and key.`),
    el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Map of tiles"}, classes.length <= 48 &&
        classes[0].length <= 48 ? tileTable() : tileCanvas()),
    el("p", {class: "note"}, TILES.map(([name, letter], c) => [el("span", {class: `key tile${c}`, "aria-hidden": "true"}, letter), name])));
  }
  if (bounds.length) {
    parts.push(el("h3", {}, "Bounds of the loops"), el("p", {},
        "Tiles kt of keys for the queries from qlo up to qhi, of Sq queries and Skv keys in all:"),
      el("ul", {class: "bounds"}, bounds.map((b) => el("li", {}, el("code", {}, b)))));
  }
  byId("tiles").replaceChildren(...parts);
  byId("tiles").hidden = false;
}

// ---- The page

function fillSelects() {
  const option = (name, chosen) => (i) => el("option", {value: i, selected: i === chosen && ""}, name(i));
  const all = (n) => [...Array(n).keys()];
  byId("query").replaceChildren(...(pooled ? pooled.rows : all(queries.length)).map(option(queryName, state.query)));
  byId("key").replaceChildren(...(pooled ? listed() : all(keys.length)).map(option(keyName, state.key)));
}
function choose(change) {
  const was = {...state};
  Object.assign(state, change);
  if (was.head !== state.head || was.query !== state.query) {
    if (!("key" in change) || (pooled && !listed().includes(state.key))) state.key = strongest(at("weights"), 1)[0];
    if (pooled && was.head === state.head) redrawLarge();
  }
  if (was.head !== state.head) drawMap();
  fillSelects();
  drawSteps();
  markPair();
  say();
}
function introduce() {
  const among = data.heads_of_all > data.heads ? ` (${data.heads} of ${data.heads_of_all} heads are shown)` : "";
  const heads = data.heads > 1 ? ` in each of ${data.heads_of_all} heads${among}` : "";
  byId("sentence").textContent = `${plural(queries.length, "query attends", "queries attend")} to ` +
      `${plural(keys.length, "key")}${heads}, compared by ` +
    `${plural(data.dim, "number")} each` + (data.mask ? "; a mask excludes some pairs." : pooled ? "." : "; every query sees every key.");
  byId("weights-text").textContent = pooled
      ? `Each row of the map is a block of ${pooled.block[0]} queries, ` +
        `each column one of ${pooled.block[1]} keys; a shade is the block's largest weight.` :
    "Each row shows how one query shares its attention among the keys. " +
      "A click on a cell, or the choice below, takes a pair through the steps.";
  byId("specification").textContent = data.specification;
  byId("digits").textContent = `Scores, weights and contexts ` +
      `are what kernels made from @${data.entry} returned, rounded${isRounded ? " to three digits" : ""}. ` +
    "Sums of rows are added up here.";
  byId("stepper").append(...steps.map((s, i) => el("li", {}, el("button", {type: "button", onclick: () => choose({step: i})},
      `${i + 1} ${s.name}`))));
}
function listen() {
  byId("query").addEventListener("change", (e) => choose({query: Number(e.target.value)}));
  byId("key").addEventListener("change", (e) => choose({key: Number(e.target.value)}));
  const walk = (by) => {
    const step = Math.min(steps.length - 1, Math.max(0, state.step + by));
    if (step !== state.step) choose({step});
    // A disabled button loses the focus; the reader goes on from its neighbour.
    if (document.activeElement === document.body) byId(by > 0 ? "back" : "next").focus({preventScroll: true});
  };
  byId("back").addEventListener("click", () => walk(-1));
  byId("next").addEventListener("click", () => walk(1));
  document.addEventListener("keydown", (event) => {
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    const isTaken = event.target.closest?.("select, input, canvas, pre, .scroll") || event.ctrlKey || event.altKey || event.metaKey ||
        event.shiftKey;
    if (!by || isTaken) return;
    event.preventDefault();
    walk(by);
    const current = byId("stepper").querySelector("[aria-current]");
    if (byId("stepper").contains(event.target)) current.focus();
  });
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", () => { drawHeads();
      drawMap(); markPair(); if (data.tiles) drawTiles(); });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (width !== innerWidth) drawSteps();
    width = innerWidth;
  });
}
byId("main").hidden = false;
introduce();
state.key = strongest(at("weights"), 1)[0];
drawHeads();
drawMap();
if (data.tiles) drawTiles();
fillSelects();
drawSteps();
markPair();
listen();
})();

// Tokens, images and curves, drawn from what the server says of a sequence.
const SVG = "http://www.w3.org/2000/svg";
const UNSURE = 0.7, DOUBT = 0.9;
const DRAWN = 8; // columns that are drawn until somebody chooses
const DASHES = ["", "7 3", "2 3", "9 3 2 3"];
const HUES = [212, 28, 145, 290, 350, 48, 180, 325, 95, 255];

function make(name, properties = {}, ...children) {
  const found = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in found) found[key] = value;
    else found.setAttribute(key, value);
  }
  found.append(...children);
  return found;
}

function makeSvg(name, attributes = {}) {
  const found = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  return found;
}

function hueOf(index) {
  return index < HUES.length ? HUES[index] : (index * 137.5) % 360;
}

function percent(p, digits = 0) {
  return `${(100 * p).toFixed(digits)} %`;
}

// "B-PER" is a PER that begins, "I-PER" goes on; other labels are as they are.
function partsOf(tag, spans) {
  if (tag === null) return { name: null, inside: false };
  if (!spans) return { name: tag, inside: false };
  if (tag === "O") return { name: null, inside: false };
  return { name: tag.slice(2), inside: tag[0] === "I" };
}

function describe(item, t, spans) {
  const { name } = partsOf(item.tags[t], spans);
  const what = name ?? (item.tags[t] === null ? "no label" : "outside");
  const text = item.texts ? item.texts[t] : `position ${t} of 0 to ${item.tags.length - 1}`;
  const state = item.states[t], p = item.probability[t];
  return `${text}: ${what}` + (state ? `, ${state}` : "") + (state === "auto" && p !== null ? `, ${percent(p, 1)}` : "");
}

function drawToken(item, t, view) {
  const part = partsOf(item.tags[t], view.spans), state = item.states[t], p = item.probability[t];
  const token = make("div", { className: "token", id: `p${t}`, role: "option" });
  token.dataset.at = t;
  token.setAttribute("aria-label", describe(item, t, view.spans));
  if (item.images) token.append(drawImage(item.images[t], view.shape));
  else token.append(make("span", { className: "text" }, item.texts[t] || "␣"));
  if (item.more && item.more[t].length) token.append(make("span", { className: "more" }, item.more[t].join(" ")));
  const label = make("span", { className: "label" }, part.inside ? "" : part.name ?? "");
  const unsure = state === "auto" && p !== null && p < DOUBT;
  const sure = make("span", { className: "sure" }, unsure ? `${part.name === null ? "– " : " "}${percent(p)}` : "");
  if (item.images) token.append(label, sure);
  else { label.append(sure); token.append(label); }
  if (part.name !== null) {
    token.style.setProperty("--h", hueOf(view.order.get(part.name) ?? 0));
    token.classList.add("labelled");
  }
  token.style.setProperty("--strength", part.name === null ? 0 : state === "auto" ? Math.max(0.08, p ?? 0) : 1);
  if (state) token.classList.add(state);
  if (state === "auto" && p !== null && p < UNSURE) token.classList.add("unsure");
  if (part.inside) token.classList.add("inside");
  const after = t + 1 < item.tags.length ? partsOf(item.tags[t + 1], view.spans) : null;
  if (after && after.inside) token.classList.add("opens");
  return token;
}

function drawImage(pixels, [height, width]) {
  const scale = 16 / Math.max(16, height); // as large as letters of 16 rows
  const canvas = make("canvas", { width, height });
  canvas.setAttribute("aria-hidden", "true");
  canvas.style.setProperty("--w", width * scale);
  canvas.style.setProperty("--t", height * scale);
  const context = canvas.getContext("2d"), image = context.createImageData(width, height);
  pixels.forEach((value, k) => image.data.set([255 - value, 255 - value, 255 - value, 255], 4 * k));
  context.putImageData(image, 0, 0);
  return canvas;
}

function drawTokens(box, item, view) {
  box.className = item.images ? "images" : "tokens";
  box.replaceChildren(...item.tags.map((_, t) => drawToken(item, t, view)));
}

// One line per column, and below them a band of labels; the selection is a rectangle over both.
function drawCurves(box, item, view) {
  const n = item.tags.length, height = 150, band = 26;
  const step = Math.max(4, Math.min(40, (box.clientWidth - 16) / n)), width = Math.ceil(step * n);
  const svg = makeSvg("svg", { width, height: height + band + 8, "aria-hidden": "true" });
  const drawn = drawnColumns(item);
  item.curves.forEach((column, c) => { if (drawn.has(c)) svg.append(makeSvg("path", { class: "line", d: pathOf(column, step, height), ...strokeOf(c) })); });
  svg.append(makeSvg("line", { class: "base", x1: 0, x2: width, y1: height + 2, y2: height + 2 }));
  for (let a = 0, b; a < n; a = b) {
    for (b = a + 1; b < n && item.tags[b] === item.tags[a] && item.states[b] === item.states[a]; b++);
    drawRun(svg, item, view, a, b, step, height, band);
  }
  svg.append(makeSvg("rect", { class: "range", y: 1, height: height + band + 5, rx: 3 }));
  box.className = "curves";
  box.replaceChildren(svg, drawLegend(item, drawn, () => { drawCurves(box, item, view); columnsChosen(); }));
  box.dataset.step = step;
}

// Columns by number: the first ones, or those that somebody chose.
let chosenColumns = null;
function drawnColumns(item) {
  return chosenColumns ?? new Set(item.columns.slice(0, DRAWN).keys());
}

// Shades of grey and dashes: colours are those of labels.
function strokeOf(c) {
  const dash = DASHES[Math.floor(c / 3) % DASHES.length];
  return { stroke: `color-mix(in srgb, var(--ink) ${[100, 62, 36][c % 3]}%, var(--card))`, "stroke-dasharray": dash };
}

function drawLegend(item, drawn, changed) {
  const count = item.columns.filter((_, c) => drawn.has(c)).length;
  const names = make("div", { className: "names", role: "group" }, make("b", {}, `${count} of ${item.width} columns shown`));
  names.setAttribute("aria-label", "Columns that are drawn");
  item.columns.forEach((name, c) => {
    const mark = makeSvg("svg", { width: 22, height: 6, "aria-hidden": "true" });
    mark.append(makeSvg("line", { class: "line", x1: 0, x2: 22, y1: 3, y2: 3, ...strokeOf(c) }));
    const box = make("input", { type: "checkbox", checked: drawn.has(c) });
    box.addEventListener("change", () => {
      chosenColumns = new Set(drawn);
      if (box.checked) chosenColumns.add(c);
      else chosenColumns.delete(c);
      changed();
    });
    names.append(make("label", {}, box, mark, name));
  });
  return names;
}

function pathOf(column, step, height) {
  const known = column.filter((x) => x !== null), low = Math.min(...known), high = Math.max(...known);
  let d = "", pen = "M";
  column.forEach((x, t) => {
    if (x === null) { pen = "M"; return; }
    const y = height - 6 - (height - 14) * (high > low ? (x - low) / (high - low) : 0.5);
    d += `${pen}${((t + 0.5) * step).toFixed(1)} ${y.toFixed(1)}`;
    pen = "L";
  });
  return d;
}

function drawRun(svg, item, view, a, b, step, height, band) {
  const { name } = partsOf(item.tags[a], view.spans);
  if (name === null) return;
  for (let t = a; t < b; t++) {
    const strength = item.states[t] === "auto" ? Math.max(0.08, item.probability[t] ?? 0) : 1;
    const rect = makeSvg("rect", {
      class: "run", x: t * step, y: height + 5, width: step + 0.3, height: item.states[t] === "auto" ? band - 6 : band, "fill-opacity": 0.75 * strength,
    });
    rect.style.setProperty("--h", hueOf(view.order.get(name) ?? 0));
    svg.append(rect);
  }
  if ((b - a) * step > 9 * name.length) {
    const text = makeSvg("text", { x: a * step + 4, y: height + 20 });
    text.textContent = name;
    svg.append(text);
  }
}

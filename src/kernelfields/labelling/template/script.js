// The page: what is shown, what keys and pointers do to it, and what the server is told.
const WHY = {
  check: "drawn at random, to check the model",
  unsure: "the model is least sure of this one",
  random: "a random one to begin with",
};
const FRESH = 1500; // milliseconds for which the model may still change labels that nobody has touched
const $ = (id) => document.getElementById(id);

const view = { labels: [], order: new Map(), spans: false, look: "tokens", shape: null, asked: {}, curve: [] };
let item = null, cursor = 0, anchor = 0, touched = false, shownAt = 0;
let accepting = false;
const visited = [];

// ---- the server ----

// What an acknowledged change does to the page.
const DONE = {
  // What is left of a label has been looked at: only what comes after may change with it.
  "/api/set": (found, { at, item: number }) => { if (!unsent.some((one) => one.body.item === number)) take(found, at); },
  "/api/mark": (found, { item: number, at, length, label: name }) => {
    take(found);
    if (!item || item.item !== number) return;
    const words = item.texts.slice(at, at + length).join(" ");
    $("detail").textContent = `“${words}” is ${name ?? "outside"} in ${found.marked} place${found.marked > 1 ? "s" : ""} now.`;
  },
  "/api/accept": (found) => { accepting = false; next(found); },
  "/api/skip": (found) => { accepting = false; next(found); },
  "/api/undo": (found) => {
    if (item && found.item === item.item) { touched = true; take(found); } else show(found);
    refresh();
  },
};

function NOT_DONE(change) {
  accepting = false;
  if (item && item.item === change.body.item) call(here(`/api/items/${item.item}`)).then((found) => take(found)).catch(() => {});
}

function here(path) {
  return `${path}${path.includes("?") ? "&" : "?"}window=${me.window}`;
}

function next(found) {
  const elsewhere = found.elsewhere;
  $("finished-title").textContent = elsewhere ? `The last ${elsewhere > 1 ? `${elsewhere} sequences are` : "sequence is"} open in other windows.` : "Every sequence is labelled or skipped.";
  show(found.next);
}

function ask() {
  return call(here("/api/next")).then(next).catch((error) => trouble(error.message));
}

function trouble(sentence) {
  $("trouble").textContent = sentence;
  $("trouble").hidden = !sentence;
}

function say(text, kind = "") {
  $("status").textContent = text;
  $("status").className = kind;
}

// ---- showing ----

function show(found) {
  $("finished").hidden = found !== null;
  $("work").hidden = found === null;
  item = found;
  touched = false;
  shownAt = performance.now();
  if (found === null) return;
  if (visited[visited.length - 1] !== found.item) visited.push(found.item);
  cursor = anchor = 0;
  for (const { path, body } of unsent) if (path === "/api/set" && body.item === found.item) mark(body);
  draw();
  $("number").value = found.item;
  $("name").textContent = found.name === null ? "" : found.name;
  head();
  select(Math.max(0, firstDoubt()), false);
  $("sequence").scrollLeft = 0;
}

function head() {
  const why = item.skipped ? "skipped" : WHY[item.why] ?? (item.check ? WHY.check : "");
  $("why").textContent = item.done ? "accepted; changes are saved at once" : why;
}

// Take labels that the server says the shown sequence has, from a position on; the cursor stays.
function take(found, from = 0) {
  if (!item || found.item !== item.item) return;
  Object.assign(item, { done: found.done, skipped: found.skipped, revision: found.revision });
  head();
  for (const kind of ["tags", "states", "probability"]) item[kind].splice(from, Infinity, ...found[kind].slice(from));
  draw();
  select(cursor, true);
}

function draw() {
  const box = $("sequence");
  if (item.curves) drawCurves(box, item, view);
  else drawTokens(box, item, view);
  box.setAttribute("aria-label", `Sequence ${item.item}${item.name === null ? "" : `, ${item.name}`}, ${item.tags.length} positions`);
}

function columnsChosen() {
  select(cursor, true);
}

function firstDoubt() {
  return item.states.findIndex((state, t) => state !== "manual" && (item.probability[t] ?? 1) < DOUBT);
}

function select(at, extend) {
  if (!item) return;
  cursor = Math.max(0, Math.min(item.tags.length - 1, at));
  if (!extend) anchor = cursor;
  const [a, b] = range(), box = $("sequence");
  if (item.curves) {
    const step = Number(box.dataset.step), rect = box.querySelector(".range");
    rect.setAttribute("x", a * step);
    rect.setAttribute("width", (b - a + 1) * step);
    box.removeAttribute("aria-activedescendant");
    const left = cursor * step;
    if (left < box.scrollLeft || left > box.scrollLeft + box.clientWidth - 40) box.scrollLeft = left - box.clientWidth / 2;
  } else {
    for (const token of box.querySelectorAll(".chosen, .cursor")) {
      token.classList.remove("chosen", "cursor");
      token.setAttribute("aria-selected", "false");
    }
    for (let t = a; t <= b; t++) {
      box.children[t].classList.add("chosen");
      box.children[t].setAttribute("aria-selected", "true");
    }
    box.children[cursor].classList.add("cursor");
    box.setAttribute("aria-activedescendant", `p${cursor}`);
    box.children[cursor].scrollIntoView({ block: "nearest" });
  }
  $("detail").textContent = b > a ? `${b - a + 1} positions, up to ${describe(item, cursor, view.spans)}` : describe(item, cursor, view.spans);
}

function range() {
  return [Math.min(anchor, cursor), Math.max(anchor, cursor)];
}

function overview(found) {
  Object.assign(view, { spans: found.spans, look: found.look, shape: found.shape, asked: found.asked, labels: found.labels });
  view.order = new Map(found.labels.map((one, k) => [one.name, k]));
  progress(found);
  learning(found.model);
  if (found.trouble) trouble(found.trouble);
  estimate(found.curve);
  palette();
  recent(found.recent);
  $("mark").hidden = found.look !== "tokens";
}

function progress(found) {
  const parts = [["", `${found.done} of ${found.sequences}`, " accepted"]];
  if (found.checks) parts.push([" · ", `${found.checks}`, found.checks > 1 ? " of them checks" : " of them a check"]);
  if (found.skipped) parts.push([" · ", `${found.skipped}`, " skipped"]);
  $("progress").replaceChildren(...parts.flatMap(([before, number, after]) => [before, make("b", {}, number), after]));
}

function recent(found) {
  $("recent").hidden = !found.length;
  $("accepted").replaceChildren(...found.map((one) => {
    const link = make("button", { type: "button", className: "row" }, make("span", { className: "number" }, `${one.item}`), make("span", { className: "summary" }, one.summary));
    const note = one.check ? "check" : one.manual ? `${one.manual} set by hand` : "as proposed";
    link.append(make("span", { className: "note" }, note));
    link.addEventListener("click", () => { visit(one.item); $("sequence").focus(); });
    return make("li", {}, link);
  }));
}

function learning(model) {
  const line = $("learning");
  line.textContent = !model.known ? "no model yet: accept a sequence" : model.settled ? "model up to date" : "learning …";
  line.className = model.known && model.settled ? "" : "busy";
}

function estimate(curve) {
  view.curve = curve;
  const said = sayError(curve, view.asked);
  $("error").replaceChildren(make("b", {}, said.error), said.unit, make("span", {}, said.interval));
  $("promise").textContent = said.promise;
  $("promise").className = said.holds ? "" : "none";
  $("how").textContent = said.how;
  drawChart($("chart"), curve);
  $("chart").setAttribute("aria-label", `Estimated error by number of accepted sequences, now ${said.error}`);
}

function palette() {
  const many = view.labels.length > 12;
  $("labels").parentElement.classList.toggle("many", many);
  $("labels").replaceChildren(...view.labels.map((one, k) => {
    const button = make("button", { type: "button", className: "label" }, one.name);
    if (one.key && one.key !== one.name) button.append(make("kbd", {}, one.key.toUpperCase()));
    if (one.key) button.setAttribute("aria-keyshortcuts", one.key);
    button.style.setProperty("--h", hueOf(k));
    button.addEventListener("click", () => { label(one.name); $("sequence").focus(); });
    return button;
  }));
  $("finding").hidden = view.labels.every((one) => one.key);
  $("names").replaceChildren(...view.labels.map((one) => make("option", { value: one.name })));
}

// ---- doing ----

function runOf(name, length) {
  if (name === null) return Array(length).fill(view.spans ? "O" : null);
  if (!view.spans) return Array(length).fill(name);
  return Array.from({ length }, (_, t) => `${t ? "I" : "B"}-${name}`);
}

function label(name) {
  if (!item || accepting) return;
  touched = true;
  const [a, b] = range(), body = { item: item.item, at: a, length: b - a + 1, label: name, revision: item.revision };
  mark(body);
  draw();
  select(name === null ? cursor : b + 1, name === null);
  send("/api/set", body);
}

// Show a label before the server has said that it is kept.
function mark({ at, length, label: name }) {
  runOf(name, length).forEach((tag, k) => {
    item.tags[at + k] = tag;
    item.states[at + k] = tag === null ? null : "manual";
    item.probability[at + k] = null;
  });
}

function markAll() {
  if (!item || accepting || view.look !== "tokens") return;
  const [a, b] = range(), { name } = partsOf(item.tags[a], view.spans);
  touched = true;
  send("/api/mark", { item: item.item, at: a, length: b - a + 1, label: name, revision: item.revision });
}

function accept() {
  if (!item || accepting) return;
  accepting = true;
  send("/api/accept", { item: item.item, labels: item.tags, revision: item.revision });
}

function skip() {
  if (!item || accepting) return;
  accepting = true;
  send("/api/skip", { item: item.item, revision: item.revision });
}

function undo() {
  if (!accepting) send("/api/undo", {});
}

async function visit(number) {
  try {
    show(await call(here(`/api/items/${number}`)));
    trouble("");
  } catch (error) {
    trouble(error.message);
  }
}

function back() {
  if (visited.length > 1) {
    visited.pop();
    visit(visited.pop());
  }
}

function doubt(direction) {
  const n = item.tags.length;
  for (let k = 1; k <= n; k++) {
    const t = (((cursor + direction * k) % n) + n) % n;
    if (item.states[t] === "auto" && (item.probability[t] ?? 1) < DOUBT) return select(t, false);
  }
}

// To the row above or below, to the token that is nearest there.
function row(direction, extend) {
  if (item.curves) return select(cursor + 10 * direction, extend);
  const boxes = [...$("sequence").children].map((token) => token.getBoundingClientRect()), here = boxes[cursor];
  const rows = boxes.map((box, t) => [box, t]).filter(([box]) => direction * (box.top - here.top) > 4);
  if (!rows.length) return;
  const top = direction > 0 ? Math.min(...rows.map(([box]) => box.top)) : Math.max(...rows.map(([box]) => box.top));
  const near = rows.filter(([box]) => Math.abs(box.top - top) < 4);
  near.sort(([one], [other]) => Math.abs(one.left - here.left) - Math.abs(other.left - here.left));
  select(near[0][1], extend);
}

function find() {
  $("finding").hidden = false;
  $("find").value = "";
  $("find").focus();
}

const COMMANDS = {
  move: ({ by, extend }) => { touched = true; select(cursor + by, extend); },
  up: ({ extend }) => row(-1, extend),
  down: ({ extend }) => row(1, extend),
  label: (command) => label(command.label),
  clear: () => label(null),
  mark: markAll, accept, skip, undo, back, find,
  doubt: () => doubt(1),
  doubtBefore: () => doubt(-1),
  collapse: () => select(cursor, false),
  help: () => $("keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (document.querySelector("dialog[open]") || target.matches("input[type=text]")) return;
  if (target.matches("input") && event.key === " ") return;
  if (target.matches("button, a") && (event.key === "Enter" || event.key === " ")) return;
  const command = commandOf(event, view.labels);
  if (!command || (!item && !["undo", "back", "help"].includes(command.name))) return;
  event.preventDefault();
  COMMANDS[command.name](command);
});

function placeOf(event) {
  const box = $("sequence");
  if (item && item.curves) return Math.floor((event.clientX - box.firstChild.getBoundingClientRect().left) / Number(box.dataset.step));
  const token = document.elementFromPoint(event.clientX, event.clientY)?.closest(".token");
  return token ? Number(token.dataset.at) : null;
}

let dragging = false;
$("sequence").addEventListener("pointerdown", (event) => {
  if (event.target.closest(".names")) return;
  const at = item && placeOf(event);
  if (at === null || event.button) return;
  dragging = touched = true;
  select(at, event.shiftKey);
});
document.addEventListener("pointermove", (event) => {
  const at = dragging && event.buttons ? placeOf(event) : null;
  if (at !== null && at !== cursor) select(at, true);
});
document.addEventListener("pointerup", () => { dragging = false; });

$("accept").addEventListener("click", () => { accept(); $("sequence").focus(); });
$("clear").addEventListener("click", () => { label(null); $("sequence").focus(); });
$("mark").addEventListener("click", () => { markAll(); $("sequence").focus(); });
$("undo").addEventListener("click", () => { undo(); $("sequence").focus(); });
$("skip").addEventListener("click", () => { skip(); $("sequence").focus(); });
$("help").addEventListener("click", () => $("keys").showModal());
$("export").addEventListener("click", () => { links(); $("exports").showModal(); });
$("auto").addEventListener("change", links);
$("number").addEventListener("change", () => { visit(Number.parseInt($("number").value, 10) || 0); $("sequence").focus(); });
$("find").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== "Escape") return;
  event.preventDefault();
  const typed = $("find").value.trim().toLowerCase();
  const found = view.labels.find((one) => one.name.toLowerCase() === typed) || view.labels.find((one) => one.name.toLowerCase().startsWith(typed));
  $("sequence").focus();
  if (event.key === "Enter" && typed && found) label(found.name);
});
window.addEventListener("resize", () => { if (item && item.curves) { draw(); select(cursor, true); } });
window.addEventListener("beforeunload", (event) => { if (waiting) event.preventDefault(); });

function links() {
  const formats = view.look === "tokens" ? ["jsonl", "conll"] : ["jsonl", "csv", "npz"];
  const auto = $("auto").checked ? "&auto=1" : "";
  $("links").replaceChildren(...formats.map((format) => make("a", { href: `/api/export?format=${format}${auto}`, download: `labels.${format}` }, format)));
}

// ---- beginning, and news ----

let heard = 0;  // news so far

async function refresh() {
  try {
    const before = heard;
    const found = await call("/api/overview");
    // Asked before news came and answered after it, the overview would put back what was there before.
    if (heard !== before) return refresh();
    overview(found);
  } catch (error) {
    trouble(error.message);
  }
}

function news(message) {
  if (message.type === "model" || message.type === "estimate") heard += 1;
  if (message.type === "model") {
    learning(message);
    const fresh = item && !item.done && !touched && !waiting && !accepting && performance.now() - shownAt < FRESH;
    if (fresh) again(() => !touched);
  } else if (message.type === "estimate") estimate(message.curve);
  else if (message.type === "trouble") trouble(message.sentence);
  else {
    if (message.type === "changed" && message.window !== me.window && item && message.items.includes(item.item)) again(() => true);
    if (!item) ask();
    refresh();
  }
}

// Look at the shown sequence again. If another window has accepted it, its labels stay as they are shown here until
// something is sent: then both are compared.
function again(allowed) {
  call(here(`/api/items/${item.item}`)).then((found) => {
    if (!item || found.item !== item.item || waiting || accepting) return;
    if (found.done === item.done && found.skipped === item.skipped) { if (allowed()) take(found); }
    else if (found.done) $("why").textContent = "accepted in another window meanwhile";
  }).catch(() => {});
}

function listen() {
  const events = new EventSource("/api/events");
  events.onmessage = (event) => news(JSON.parse(event.data));
  events.onopen = () => { $("learning").classList.remove("lost"); trouble(""); flush(); refresh(); };
  events.onerror = () => {
    $("learning").textContent = "no connection";
    $("learning").className = "lost";
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, 5000); // refused, as with too many pages
  };
}

$("key-table").replaceChildren(...KEYS.map(([keys, what]) => {
  const head = make("th", { scope: "row" }, ...keys.split(" ").map((key) => (key === "…" ? "… " : make("kbd", {}, key))));
  return make("tr", {}, head, make("td", {}, what));
}));

(async () => {
  const found = await call("/api/overview").catch((error) => trouble(error.message));
  if (found) {
    overview(found);
    await remember(found.session);
    await flush();
  }
  if (!item) await call(here("/api/begin")).then(next).catch((error) => trouble(error.message));
  if (unsent.length) state();
  $("sequence").focus();
  listen();
  setInterval(() => { if (!item && !$("finished").hidden) ask(); }, 20000); // what other windows had may be free
})();

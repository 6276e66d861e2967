"use strict";
// Texts go into the page by textContent only: tokens and labels may contain anything.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const find = (id) => document.getElementById(id);
  const slider = find("threshold"), filter = find("filter"), onlyWrong = find("wrong"), list = find("sequences");
  const PAGE = 20;
  const TEXT = 0, TRUE = 1, ANSWER = 2, LEVEL = 3, RIVALS = 4;
  let matching = [], drawn = [];

  const make = (parent, name, kind, text) => {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  };
  const percent = (part, whole) => (whole ? (100 * part / whole).toFixed(2) + "\u00a0%" : "none");
  const threshold = () => Number(slider.value);
  const label = () => (filter.value === "" ? null : Number(filter.value));
  const isAnswered = (token) => token[LEVEL] > threshold();
  const isKnown = (token) => token[TRUE] >= 0;
  const isWrong = (token) => isKnown(token) && token[TRUE] !== token[ANSWER];
  const has = (token, k) => token[TRUE] === k || token[ANSWER] === k;

  function count() {
    const k = label();
    const [answered, wrong] = k === null ? data.all : data.byLabel[data.filters.indexOf(k)];
    const total = answered[0], n = answered[threshold()], bad = wrong[threshold()];
    find("value").textContent = (threshold() / 100).toFixed(2);
    find("counts").textContent = `${n.toLocaleString("en")} of ${total.toLocaleString("en")} labels answered ` +
      `(${percent(n, total)}), ${bad.toLocaleString("en")} of them wrong (${percent(bad, n)})`;
    const mark = find("mark"), place = data.marks[threshold()];
    mark.classList.toggle("hidden", place === null);
    if (place) { mark.setAttribute("cx", place[0]); mark.setAttribute("cy", place[1]); }
  }

  const state = (token) => (isAnswered(token) ? (isWrong(token) ? "wrong" : isKnown(token) ? "right" : "") : "unsure") +
    (isAnswered(token) || !isWrong(token) ? "" : " error") + (label() !== null && has(token, label()) ? " chosen" : "");

  function paint() {
    for (const [token, box] of drawn) {
      const open = box.classList.contains("open") ? " open" : "";
      box.className = "token " + state(token) + open;
    }
  }

  function strip(parent, token) {
    const bar = make(parent, "span", "strip"), rivals = token[RIVALS], parts = [];
    for (let n = 0; n < rivals.length; n += 2) parts.push([rivals[n], rivals[n + 1]]);
    parts.sort((a, b) => (b[0] === token[ANSWER]) - (a[0] === token[ANSWER])); // stable: the rest by probability
    parts.forEach(([k, p], n) => {
      const part = make(bar, "i", k === token[ANSWER] ? "given" : k === token[TRUE] ? "truth" : "");
      part.style.width = p / 10 + "%";
      if (k !== token[ANSWER]) part.style.opacity = Math.max(0.9 - 0.18 * n, 0.3);
    });
  }

  function explain(holder, token, box) {
    const wasOpen = box.classList.contains("open");
    holder.querySelectorAll(".open").forEach((other) => { other.classList.remove("open"); other.setAttribute("aria-expanded", "false"); });
    holder.querySelectorAll(".detail").forEach((other) => other.remove());
    if (wasOpen) return;
    box.classList.add("open");
    box.setAttribute("aria-expanded", "true");
    const rivals = token[RIVALS], said = [];
    for (let n = 0; n < rivals.length; n += 2) said.push(`${data.labels[rivals[n]]} ${(rivals[n + 1] / 10).toFixed(1)} %`);
    const known = rivals.some((k, n) => n % 2 === 0 && k === token[TRUE]);
    const truth = isKnown(token) ? `true ${data.labels[token[TRUE]]}` + (known ? "" : " (not a label of the model)")
      : "true label not known";
    make(holder, "p", "detail", `${truth}; probabilities: ${said.join(", ")}`);
  }

  function draw(sequence) {
    const holder = make(list, "div", "sequence");
    const errors = sequence.tokens.filter(isWrong).length, cut = sequence.length - sequence.tokens.length;
    const depths = sequence.depths, unit = depths ? "lines" : "positions";
    make(holder, "h3", "", `${sequence.name}, ${errors} wrong` +
      (cut ? `; ${unit} ${sequence.start} to ${sequence.start + sequence.tokens.length - 1} of ${sequence.length}` : ""));
    const row = make(holder, "div", depths ? "tokens tree" : "tokens");
    sequence.tokens.forEach((token, n) => {
      const box = make(row, "button", "token");
      box.type = "button";
      if (depths) box.style.setProperty("--depth", depths[n]);
      box.setAttribute("aria-expanded", "false");
      make(box, "span", "text", token[TEXT]);
      const said = data.labels[token[ANSWER]];
      make(box, "span", "answer", isWrong(token) ? `${said} ≠ ${data.labels[token[TRUE]]}` : said);
      strip(box, token);
      box.addEventListener("click", () => explain(holder, token, box));
      drawn.push([token, box]);
    });
  }

  let next = 0;
  function more() {
    for (const sequence of matching.slice(next, next + PAGE)) draw(sequence);
    next = Math.min(next + PAGE, matching.length);
    const left = matching.length - next;
    find("more").hidden = left === 0;
    find("more").textContent = `Show more (${left} left)`;
    paint();
  }

  function choose() {
    const k = label();
    matching = data.sequences.filter((sequence) =>
      (k === null || sequence.tokens.some((token) => has(token, k))) &&
      (!onlyWrong.checked || sequence.tokens.some((token) =>
        isWrong(token) && isAnswered(token) && (k === null || has(token, k)))));
    list.replaceChildren();
    drawn = [];
    next = 0;
    if (matching.length === 0) make(list, "p", "note", `None of the ${data.noun}s here.`);
    more();
  }

  for (const k of data.filters) make(filter, "option", "", data.labels[k]).value = k;
  slider.addEventListener("input", () => { count(); if (onlyWrong.checked) choose(); else paint(); });
  filter.addEventListener("change", () => { count(); choose(); });
  onlyWrong.addEventListener("change", choose);
  find("more").addEventListener("click", more);
  count();
  choose();
})();

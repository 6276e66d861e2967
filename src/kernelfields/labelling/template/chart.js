// The curve of errors: a line with its band, by the number of accepted sequences.
function drawChart(svg, curve) {
  const left = 40, right = 350, top = 10, bottom = 146;
  const last = curve.length ? curve[curve.length - 1] : null;
  const most = Math.max(5, ...curve.map((point) => point.labelled));
  const share = (point) => (point.of ? point.wrong / point.of : 0);
  const needed = Math.max(0.05, ...curve.map((point) => Math.min(point.high, 1.3 * share(point) + 0.05)));
  const high = [0.1, 0.2, 0.4, 0.6, 0.8].find((top) => top >= needed) ?? 1;
  const x = (n) => left + (right - left) * (n / most), y = (p) => bottom - (bottom - top) * (Math.min(p, high) / high);
  const pieces = [];
  for (const part of [0, 0.5, 1]) {
    pieces.push(makeSvg("line", { class: "grid", x1: left, x2: right, y1: y(part * high), y2: y(part * high) }));
    pieces.push(labelled(left - 5, y(part * high) + 4, percent(part * high), "end"));
  }
  pieces.push(labelled(left, bottom + 16, "0", "middle"), labelled(right, bottom + 16, `${most} accepted`, "end"));
  if (curve.length > 1) {
    const upper = curve.map((point) => `${x(point.labelled)},${y(point.high)}`);
    const lower = curve.map((point) => `${x(point.labelled)},${y(point.low)}`).reverse();
    pieces.push(makeSvg("polygon", { class: "band", points: [...upper, ...lower].join(" ") }));
    pieces.push(makeSvg("polyline", { class: "line", points: curve.map((point) => `${x(point.labelled)},${y(share(point))}`).join(" ") }));
  }
  if (last) pieces.push(makeSvg("circle", { class: "dot", cx: x(last.labelled), cy: y(share(last)), r: 4 }));
  svg.replaceChildren(...pieces);
}

function labelled(x, y, text, anchor) {
  const found = makeSvg("text", { x, y, "text-anchor": anchor });
  found.textContent = text;
  return found;
}

function sayError(curve, asked, noun) {
  const last = curve[curve.length - 1];
  if (!last || !last.of) {
    const when = asked.check > 0 ? `The first estimate comes with the first sequence drawn to check the model: one in ${Math.round(1 / asked.check)}.` : "The first estimate comes with the second sequence.";
    return { error: "–", unit: "", interval: "", promise: "", holds: false, how: when };
  }
  const held = last.how === "held out";
  const how = held
    ? `Counted in ${last.sequences} sequence${last.sequences > 1 ? "s" : ""} drawn at random and held out: the model never learns from them.`
    : `Counted in the last ${last.sequences} sequences, each before the model learnt from it. It asked for them because it was unsure: others have fewer errors.`;
  const interval = last.sequences > 4 ? `probably ${(100 * last.low).toFixed(0)} to ${percent(last.high)}` : "";
  let promise = held ? `No promise of at most ${percent(asked.error_at_most)} errors yet: that takes more checks, or a better model.` : "";
  if (last.answered !== null) promise = `Answers ${percent(last.answered)}, errs on at most ${percent(last.error_at_most)} of those (${percent(last.confidence)} sure).`;
  return { error: percent(last.wrong / last.of, 1), unit: "of labels wrong", interval, promise, holds: last.answered !== null, how };
}

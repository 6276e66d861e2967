// Which command a key means; labels have keys of their own.
const KEYS = [
  ["← →", "move"],
  ["Shift ← →", "extend the selection"],
  ["Home End", "first, last position"],
  [", .", "previous, next label the model is unsure of"],
  ["A … Z 1 … 9", "give the selection a label: see its button"],
  ["/", "find a label by its name"],
  ["⌫", "clear: outside of spans, or back to the model's label"],
  ["*", "mark all: the same words elsewhere get this label, too"],
  ["⏎", "accept the sequence, and go to the next"],
  ["Ctrl Z", "undo"],
  ["PgDn", "skip: not asked for again"],
  ["PgUp", "back to the sequence before"],
  ["?", "this table"],
];

function commandOf(event, labels) {
  if (event.isComposing || event.altKey) return null;
  if (event.ctrlKey || event.metaKey) return event.key.toLowerCase() === "z" && !event.shiftKey ? { name: "undo" } : null;
  const moves = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
  if (event.key in moves) return { name: "move", by: moves[event.key], extend: event.shiftKey };
  const names = {
    ArrowUp: "up", ArrowDown: "down", Enter: "accept", Backspace: "clear", Delete: "clear", "*": "mark", PageDown: "skip",
    PageUp: "back", "?": "help", "/": "find", ".": "doubt", ",": "doubtBefore", Escape: "collapse",
  };
  if (event.key in names) return { name: names[event.key], extend: event.shiftKey };
  const label = labels.find((one) => one.key === event.key) || labels.find((one) => one.key && one.key === event.key.toLowerCase());
  return label ? { name: "label", label: label.name } : null;
}

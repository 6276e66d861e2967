// Two windows, two answers to one sequence: both are shown, and a person chooses.
function settle(change, conflict) {
  const first = conflict.item, mine = { ...first, tags: [...first.tags], states: [...first.states] };
  if (change.body.labels) mine.tags = [...change.body.labels];
  else if (item && item.item === first.item) mine.tags = [...item.tags];
  mine.tags.forEach((tag, t) => { if (tag !== first.tags[t]) mine.states[t] = tag === null ? null : "manual"; });
  const what = first.done ? "accepted" : first.skipped ? "skipped" : "changed";
  const when = conflict.when ? ` at ${new Date(conflict.when).toLocaleTimeString()}` : "";
  const differ = first.tags.filter((tag, t) => tag !== mine.tags[t]).length;
  $("conflict-what").textContent = `Sequence ${first.item} was ${what} in another window${when}. ${differ === 0 ? "The labels are the same." : `${differ} of ${first.tags.length} labels differ.`}`;
  say(`${waiting} unsaved`, "unsaved");
  $("conflict").showModal();
  for (const [id, one] of [["conflict-first", first], ["conflict-mine", mine]]) {
    const box = $(id);
    if (one.curves) drawCurves(box, one, view);
    else {
      drawTokens(box, one, view);
      [...box.children].forEach((token, t) => { token.removeAttribute("id"); token.classList.toggle("differs", first.tags[t] !== mine.tags[t]); });
    }
  }
  return new Promise((done) => {
    const choose = (own) => {
      $("conflict").close();
      if (own) overrule(change, first, mine);
      else giveWay(change, first);
      keep();
      state();
      done();
    };
    $("keep-first").onclick = () => choose(false);
    $("keep-mine").onclick = () => choose(true);
    $("conflict").oncancel = (event) => event.preventDefault(); // one of the two has to be chosen
    $("keep-first").focus();
  });
}

// Labels that differ are set one by one, with the first answer seen; then the change itself is made.
function overrule(change, first, mine) {
  const others = unsent.splice(0).slice(1);
  const made = (path, body) => ({ path, body: { ...body, item: first.item, revision: first.revision, window: me.window, session: me.session } });
  const wanted = change.body.labels ? runsOf(first, mine).map((run) => made("/api/set", run)) : [];
  unsent.push(...wanted, { path: change.path, body: { ...change.body, revision: first.revision } }, ...others);
  for (const one of unsent) { one.body.number = me.number; me.number += 1; }
}

function giveWay(change, first) {
  const others = unsent.splice(0).filter((one) => one.body.item !== first.item);
  unsent.push(...others);
  accepting = false;
  if (first.done || first.skipped) ask(first.item);
  else if (item && item.item === first.item) { item.revision = first.revision; take(first); }
}

// What to set so that labels become others: whole spans, or single positions.
function runsOf(first, mine) {
  const runs = [], n = mine.tags.length;
  for (let a = 0, b; a < n; a = b) {
    const part = partsOf(mine.tags[a], view.spans);
    for (b = a + 1; view.spans && part.name !== null && b < n && partsOf(mine.tags[b], true).inside; b++);
    const changed = mine.tags.slice(a, b).some((tag, k) => tag !== first.tags[a + k]);
    if (changed) runs.push({ at: a, length: b - a, label: part.name });
  }
  return runs;
}

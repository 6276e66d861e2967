// Changes that the server has not acknowledged yet: kept in order, sent again until it answers, through reloads.
const PAUSES = [500, 1000, 2000, 4000]; // milliseconds between attempts
const FINAL = [400, 404, 405, 410, 413, 422]; // refused for good: sending again would not help
const unsent = [];
let waiting = 0, sending = false, failures = 0, problem = "", timer = null;
const me = { window: null, number: 0, session: null };

// Tabs that were duplicated have a copy of what the first one keeps, its name included: one of them takes a new one.
const channel = new BroadcastChannel("kf label");
const nonce = crypto.getRandomValues(new Uint32Array(2)).join("-");
let taken = false;
channel.onmessage = ({ data }) => {
  if (data.window !== me.window || data.nonce === nonce) return;
  if (data.ask) channel.postMessage({ window: me.window, nonce });
  else taken = true;
};

async function remember(session) {
  const kept = JSON.parse(sessionStorage.getItem("kf label") ?? "null");
  me.session = session;
  if (kept) {
    Object.assign(me, { window: kept.window, number: kept.number });
    channel.postMessage({ window: me.window, nonce, ask: true });
    await new Promise((done) => setTimeout(done, 80));
  }
  if (!kept || taken) Object.assign(me, { window: nonce, number: 0 });
  else if (kept.session === session) unsent.push(...kept.unsent);
  keep();
}

function keep() {
  waiting = unsent.length;
  sessionStorage.setItem("kf label", JSON.stringify({ ...me, unsent }));
}

async function call(path, body) {
  const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let answer, found;
  try {
    answer = await fetch(path, options);
    found = await answer.json().catch((error) => { if (answer.ok) throw error; return {}; }); // cut off: none at all
  } catch {
    throw Object.assign(new Error("The server does not answer. Is kf label still running?"), { away: true });
  }
  if (!answer.ok) throw Object.assign(new Error(found.error || `The server answered with ${answer.status}.`), { status: answer.status, conflict: found.conflict });
  return found;
}

function send(path, body) {
  unsent.push({ path, body: { ...body, window: me.window, session: me.session, number: me.number } });
  me.number += 1;
  keep();
  state();
  flush();
}

// Send all, one after the other: each is on the disk before the next is sent.
async function flush() {
  clearTimeout(timer);
  if (sending || !unsent.length) return;
  sending = true;
  while (unsent.length) {
    const change = unsent[0];
    try {
      const found = await call(change.path, change.body);
      unsent.shift();
      keep();
      answered();
      DONE[change.path](found, change.body);
    } catch (error) {
      if (error.conflict) {
        answered();
        await settle(change, error.conflict);
      } else if (FINAL.includes(error.status)) refused(change, error);
      else {
        later(error);
        break;
      }
    }
  }
  sending = false;
}

function answered() {
  failures = 0;
  trouble("");
  state();
}

function refused(change, error) {
  failures = 0; // the server is there
  unsent.shift();
  keep();
  state();
  trouble(error.message);
  NOT_DONE(change);
}

function later(error) {
  const pause = PAUSES[Math.min(failures, PAUSES.length - 1)];
  failures += 1;
  problem = error.message;
  state();
  timer = setTimeout(flush, pause);
}

function changes(count) {
  return count === 1 ? "1 change is" : `${count} changes are`;
}

function state() {
  if (!waiting) return say("saved", "saved");
  if (!failures) return say("saving …");
  say(`${waiting} unsaved`, "unsaved");
  trouble(`${problem} ${changes(waiting)} not saved yet, and will be sent again.`);
}

// A page for one person: it comes in with the key of its address, gets pictures, and sends what its person does. What is
// sent names the picture that it means, so that what comes late does nothing.

import { find, plain, say } from "./dom.js";
import { follow } from "./stream.js";

const AWAY = "The command that serves this page does not answer: it has ended, or this machine slept.";
let picture = null;
let stop = () => {};

export function trouble(text) {
  find("trouble").hidden = !text;
  say(find("trouble"), plain(text || ""));
  document.body.classList.toggle("gone", Boolean(text));
}

async function send(address, body) {
  const answer = await fetch(address, { method: "POST", body });
  return { ok: answer.ok, ...(await answer.json()) };
}

// Does something; what is refused is said, and nothing has changed.
export async function act(command) {
  if (!picture?.plays || picture.ended) return;
  const answer = await send("/do", JSON.stringify({ tab: picture.tab, n: picture.n, ...command })).catch(() => null);
  if (answer && !answer.ok) say(find("message"), answer.text);
}

// The key is in the address once, and goes from there before anything else. `show` draws a picture, and `amiss` says what
// of it is wrong.
export async function enter(show, amiss = () => "") {
  function take(next) {
    picture = next;
    find("elsewhere").hidden = next.plays || Boolean(next.ended);
    trouble(amiss(next));
    show(next);
    if (next.ended) stop();
  }
  function open() {
    stop();
    stop = follow("/events", take, (lost) => trouble(lost ? AWAY : picture && amiss(picture)));
  }
  find("here").addEventListener("click", open);
  const key = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  const answer = await send("/enter", key);
  if (answer.ok) return open();
  say(find("title"), "Not open");
  trouble(answer.text);
}

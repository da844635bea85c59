// The pictures of a table, or of all tables: a stream, or where a cache stands in front of the server, files that it stores.

import { follow } from "./stream.js";
import { timed } from "./timed.js";

const POLL_MS = 1000;
const LOST_MS = 5000;
const LATE_MS = 2000; // a page that is so far behind skips to what is newest
const MOST = 3; // chunks that it loads at once: where many are late, all that they load makes them later

const cached = document.querySelector("nav[data-cached]") !== null;

// Follows a table, or all of them without one, until the function that is returned is called: `take` gets each picture, `lost` whether the server is
// away. `always` means live, also where the page of the table shows a tape.
export function live(table, take, lost, always = false) {
  const query = table === undefined ? "" : `?table=${encodeURIComponent(table)}${always ? "&live" : ""}`;
  return cached ? poll(query, take, lost) : follow(`events${query}`, take, lost);
}

async function load(file, query) {
  const answer = await fetch(`live/${file}.json${query}`);
  if (!answer.ok) throw new Error(answer.status);
  return answer.json();
}

// A chunk has the pictures of one second; each is shown so long after the one before as it was sent.
function poll(query, take, lost) {
  let shows = []; // what ends each of the chunks that are not over yet
  let newest = 0;
  let ends = 0; // when the chunk before has been shown, by performance.now()
  let answered = performance.now();
  let timer = 0;
  let left = false;

  function show(name, pictures) {
    const now = performance.now();
    if (ends - now > LATE_MS) {
      shows.forEach((end) => end());
      ends = now;
    }
    const begins = newest ? Math.max(ends, now) : now;
    const [last] = pictures.slice(-1);
    shows = [...shows.slice(-2), timed(newest ? pictures : [[0, last[1]]], begins, take)];
    newest = name;
    ends = begins + 1000;
  }
  async function next() {
    try {
      const { chunks } = await load("head", query);
      answered = performance.now();
      lost(false);
      for (const name of newest ? chunks.filter((one) => one > newest).slice(-MOST) : chunks.slice(-1)) {
        const pictures = await load(name, query).catch(() => null); // one that is gone is passed over
        if (left) return;
        if (pictures) show(name, pictures);
      }
    } catch {
      if (performance.now() - answered > LOST_MS) lost(true);
    }
    if (!left) timer = setTimeout(next, POLL_MS);
  }
  next();
  return () => {
    left = true;
    clearTimeout(timer);
    shows.forEach((end) => end());
  };
}

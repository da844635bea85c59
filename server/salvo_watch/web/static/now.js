// What is on now, to be read from the last row: the headline, the line below it, and the clock.

import { fill, find, fit, say, show } from "./dom.js";
import { picture, pieces } from "./state.js";
import { aiming, atZero, eveningWords, inLeague, inRound, outcome, progress, reason, spoken, victory, waiting } from "./words.js";

const OUTCOME_MS = 4000; // what a salvo came to is the headline for that long, then who is to fire
const SPOKEN_MS = 4000;

let outcomeUntil = 0;
let ends = null; // when the clock is at zero, by performance.now()

export function drawNow() {
  setClock();
  drawHeadline();
}

// Whether the last salvo is the headline for some seconds from now on.
export const tellOutcome = (is) => (outcomeUntil = is ? performance.now() + OUTCOME_MS : 0);

function headline() {
  const { state, turn, last, winners, players, rules, withheld, game, evening, host } = picture;
  if (withheld) return [`Game ${game} is over`];
  if (picture.trouble === "nothing" || !state) return ["No contest here yet"];
  if (evening.phase === "break" && state !== "over" && !picture.tape) return [`Break${inRound(picture)}`];
  if (state === "lobby") return eveningWords(picture) || waiting(players, rules.fleet.length, picture.lobby);
  if (state === "over") return winners.length ? victory(picture) : [picture.aborted ? "The host has ended the game" : "The game is over"];
  if (host.paused && !picture.tape) return ["The game is paused"];
  const told = outcome(last);
  const aims = turn && turn.player && !turn.fired ? aiming(turn) : null;
  if (told && (!aims || performance.now() < outcomeUntil)) return told;
  return aims || told || ["The game begins"];
}

function beside() {
  const { state, turn, comment, last, withheld } = picture;
  if (withheld) return ["How it went: the tape is next"];
  if (state === "over") return reason(picture);
  if (state !== "turn") return [];
  const told = outcome(last) || [];
  const more = comment && comment.replace(/\.$/, "").replaceAll("'", "’") !== spoken(told) ? comment : "";
  if (turn && turn.player && !turn.fired && performance.now() < outcomeUntil) return more ? [more] : ["Next: ", ...aiming(turn)];
  return more ? [more] : turn && turn.player && !turn.fired ? told : [];
}

function drawHeadline() {
  const words = headline();
  const line = find("headline");
  fill(line, JSON.stringify(words), () => pieces(words));
  fit(line);
  const more = beside();
  fill(find("comment"), JSON.stringify(more), () => pieces(more));
  const far = progress(picture);
  fill(find("progress"), JSON.stringify(far), () => pieces(far));
  announce(spoken(words));
}

let announced = 0;
let toSay = "";
function announce(text) {
  toSay = text;
  if (announced) return;
  say(find("told"), toSay);
  announced = setTimeout(() => {
    announced = 0;
    if (find("told").textContent !== toSay) announce(toSay);
  }, SPOKEN_MS);
}

function setClock() {
  const { state, turn, lobby, players, rules } = picture;
  const word = state === "lobby" ? atZero(players, rules.fleet.length) : "left to fire";
  const left = inLeague(picture) || !word ? null : state === "turn" && turn && !turn.fired ? turn.left_ms : state === "lobby" && lobby ? lobby.left_ms : null;
  ends = left === null || picture.trouble || picture.host.paused ? null : { at: performance.now() + left, whole: state === "turn" ? turn.whole_ms : null };
  say(find("clockword"), word);
  tick();
}

function tick() {
  const left = ends && Math.max(0, ends.at - performance.now());
  show(find("clock"), ends !== null);
  if (ends) say(find("left"), left >= 60_000 ? `${Math.floor(left / 60_000)}:${String(Math.floor(left / 1000) % 60).padStart(2, "0")}` : `${Math.ceil(left / 1000)} s`);
  find("bar").style.transform = `scaleX(${ends?.whole ? Math.min(1, left / ends.whole) : 0})`;
}

setInterval(() => {
  if (!picture) return;
  tick();
  if (outcomeUntil && performance.now() >= outcomeUntil) {
    outcomeUntil = 0;
    drawHeadline();
  }
}, 250);

addEventListener("resize", () => picture && fit(find("headline")));

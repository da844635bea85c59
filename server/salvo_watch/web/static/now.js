// What is on now, to be read from the last row: the headline, the line below it, and the clock.

import { fill, find, fit, say, show } from "./dom.js";
import { picture, pieces } from "./state.js";
import { atZero, awaited, inLeague, progress, spoken, told } from "./words.js";

const FRESH_MS = 4000; // a salvo is the headline for that long, then who is to fire
const SPOKEN_MS = 4000;

let fresh = null; // the salvo that is the headline
let freshUntil = 0;
let ends = null; // when the clock is at zero, by performance.now()

export function drawNow() {
  setClock();
  drawHeadline();
}

// Makes a salvo the headline, or none; one that matters stays there while others run by that do not.
export function tellSalvo(salvo, runsBy = false) {
  const minor = salvo && !salvo.moments.length;
  if (minor && fresh?.moments.length && fresh.game === salvo.game && performance.now() < freshUntil) return;
  fresh = minor && runsBy ? null : salvo;
  freshUntil = performance.now() + FRESH_MS;
}

function drawHeadline() {
  const { words, more, large } = told(picture, fresh);
  const line = find("headline");
  fill(line, JSON.stringify(words), () => pieces(words));
  line.classList.toggle("small", !large);
  fit(line);
  fill(find("comment"), JSON.stringify(more), () => pieces(more));
  const far = progress(picture);
  fill(find("progress"), JSON.stringify(far), () => pieces(far));
  fit(find("comment")); // in what that leaves
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
  const { state, turn } = picture;
  const { word, left } = clock();
  ends = left === null || picture.trouble || picture.host.paused ? null : { at: performance.now() + left, whole: state === "turn" ? turn.whole_ms : null };
  say(find("clockword"), word);
  tick();
}

// What the clock counts down to, and in how many milliseconds; null where it counts nothing.
function clock() {
  const { state, turn, lobby, evening, players, rules, tape } = picture;
  if (tape) return { word: "", left: null }; // its name stands in the clock's place
  if (state === "turn") return { word: "left to fire", left: turn && !turn.fired ? turn.left_ms : null };
  if (awaited(picture)) return { word: "round 1 begins in", left: evening.begins > Date.now() ? evening.begins - Date.now() : null };
  const word = state === "lobby" && !inLeague(picture) && atZero(players, rules.fleet.length);
  return { word: word || "", left: word && lobby ? lobby.left_ms : null };
}

function tick() {
  const left = ends && Math.max(0, ends.at - performance.now());
  show(find("clock"), ends !== null || picture.tape !== null);
  find("clock").classList.toggle("late", picture.tape !== null);
  if (picture.tape) say(find("left"), "Tape");
  if (ends?.whole) say(find("clockword"), left ? "left to fire" : "time is up, the turn ends");
  if (ends) say(find("left"), left >= 60_000 ? `${Math.floor(left / 60_000)}:${String(Math.floor(left / 1000) % 60).padStart(2, "0")}` : `${Math.ceil(left / 1000)} s`);
  find("bar").style.transform = `scaleX(${ends?.whole ? Math.min(1, left / ends.whole) : 0})`;
}

setInterval(() => {
  if (!picture) return;
  tick();
  if (fresh && performance.now() >= freshUntil) {
    fresh = null;
    drawHeadline();
  }
}, 250);

const fitAgain = () => picture && ["headline", "comment"].map(find).forEach(fit);
addEventListener("resize", fitAgain);
new ResizeObserver(fitAgain).observe(find("clock")); // whose words leave the headline more room, or less

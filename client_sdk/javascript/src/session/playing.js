// Playing: the view of one game, and the salvo of one turn until its result is there.

import { Fleet } from "../rules.js";
import { View } from "../view.js";
import { PATIENCE_SECONDS, PATIENCE_SHARE } from "./machineStates.js";
import { noProgress } from "./state.js";

/** @typedef {import("./state.js").SessionState} SessionState */
/** @typedef {import("../announcements.js").Turn} Turn */
/** @typedef {import("../rules.js").Placement} Placement */
/** @typedef {import("../view.js").Shot} Shot */

// --- the player -------------------------------------------------------------------------------------------------------

/** Fire shots of the current turn. @param {SessionState} session @param {readonly Shot[]} shots @throws {SalvoError} `wrong_state`: no game */
export function fire(session, shots) {
  const view = session.gameInPlay();
  sendOn(session, view, shots);
  view.shots -= shots.length;
  session.play.due = null;
  session.take("playing", "fired");
}

/** Give up the shots that are left. @param {SessionState} session @throws {SalvoError} `wrong_state`: no game */
export function skip(session) {
  const view = session.gameInPlay();
  view.shots = 0;
  session.play.due = null;
  session.outbox.skip(view);
  session.take("playing", "skipped");
}

/** Let time pass; while the server is away, or a recap is awaited, a salvo is not sent again. @param {SessionState} session */
export function tick(session) {
  const { play, play: { turn, due }, now } = session;
  const maySend = session.serverHere && !session.missedNews;
  if (turn === null || !maySend || now >= play.deadline) {
    play.due = null;
  } else if (due === null || now > due) {
    play.due = now + Math.min(PATIENCE_SECONDS, (PATIENCE_SHARE * (turn.deadline - turn.now)) / 1000);
    if (due !== null) session.take("playing", "no_result");
  }
}

// --- the news ---------------------------------------------------------------------------------------------------------

/** Apply the announcement of a turn, and begin it unless a recap has to come first. @param {SessionState} session @param {Turn} turn */
export function turnBegan(session, turn) {
  noteTurn(session, turn);
  if (!session.missedNews) beginTurn(session);
}

/** @param {SessionState} session @param {Turn} turn */
function noteTurn(session, turn) {
  const { play, table, view, fleet } = session;
  const order = play.turn === null ? 1 : turn.game - play.turn.game || turn.turn - play.turn.turn;
  if (order < 0) return;
  play.turn = turn;
  play.deadline = session.now + (turn.deadline - turn.now) / 1000;
  if (order === 0) {
    if (view !== null) view.deadline = viewDeadline(session); // repeated, or its time began again
  } else if (view?.game !== turn.game && fleet !== null && table.rules !== null && table.players.includes(table.team)) {
    session.view = new View(table.rules, table.team, table.players, turn.game, fleet, session.random);
    session.take("playing", "taken_up");
  }
}

/** Return the turn's deadline on the view's clock. @param {SessionState} session */
const viewDeadline = ({ play, now }) => performance.now() + (play.deadline - now) * 1000;

/** Begin the last turn that was announced, once: ask the player for the shots that it has not fired yet. @param {SessionState} session */
export function beginTurn(session) {
  const { play, play: { turn }, view } = session;
  if (turn === null || view === null || view.game !== turn.game || hasBegun(session, turn) || view.resolvedTurn >= turn.turn) return;
  play.begun = { game: turn.game, turn: turn.turn };
  const left = turn.player === session.table.team ? turn.shots - view.firedThisTurn.length : 0;
  putInTurn(session, view, turn, left);
  session.take("playing", left ? "own_turn" : "others_turn");
}

/** Whether the view is in a turn. @param {SessionState} session @param {Turn} turn */
export const hasBegun = ({ play: { begun } }, turn) => begun?.game === turn.game && begun.turn === turn.turn;

/** Show the player a turn, with the shots that it has left. @param {SessionState} session @param {View} view @param {Turn} turn @param {number} left */
export function putInTurn(session, view, turn, left) {
  view.beginTurn(turn.turn, left, viewDeadline(session));
  view.limitedBy = turn.deadline - turn.now < session.table.turnMs ? "bank_empty" : "turn_timeout";
}

/** Apply a result to the view, once. @param {SessionState} session @param {import("../announcements.js").Result} result */
export function resolved(session, result) {
  const { view, play: { turn } } = session;
  if (view !== null && result.game === view.game && result.turn > view.resolvedTurn) {
    view.resolve(result);
    if (turn === null || result.turn >= turn.turn) session.take("playing", "resolved");
    session.events.push({ type: "salvoHeard", result });
  }
  end(session);
}

/** Note a fleet that is shown at the end. @param {SessionState} session @param {string} player @param {Placement[]} ships */
export function reveal({ view }, player, ships) {
  if (!view?.players.includes(player)) return;
  try {
    view.revealed.set(player, new Fleet(view.rules, ships));
  } catch {
    // One from another game may not fit: a broker that was killed may have retained it.
  }
}

/**
 * Report how the game ended, once everything about its end is there.
 *
 * After a broker was killed, state, winner and statistics come in any order, and some may belong to another game: they
 * count only if they agree with the view.
 *
 * @param {SessionState} session
 */
export function end(session) {
  const { view, play: { winners, stats } } = session;
  if (session.tableState !== "over" || view === null || winners === null) return;
  const agrees = winners.length === view.winners.length && winners.every((winner) => view.winners.includes(winner));
  if (winners.length && !agrees) return;
  // The view may have begun with an old list of players; a recap has the whole one.
  if (!winners.length && [...stats.keys()].some((player) => !view.players.includes(player))) return;
  if (view.players.every((player) => stats.has(player))) session.take("playing", "ended");
}

// --- messages ---------------------------------------------------------------------------------------------------------

/** Send shots after those of this turn that the view has as fired. @param {SessionState} session @param {View} view @param {readonly Shot[]} shots */
export function sendOn(session, view, shots) {
  send(session, view, shots, view.firedThisTurn.length + 1);
  view.fire(shots);
}

/** @param {SessionState} session @param {View} view @param {readonly Shot[]} shots @param {number} first */
const send = ({ outbox }, view, shots, first) => shots.forEach((shot, number) => outbox.fire(view, first + number, shot));

// --- actions ----------------------------------------------------------------------------------------------------------

/** Ask the player for its shots. @param {SessionState} session */
export function askPlayer(session) {
  session.events.push({ type: "salvoWanted", view: session.gameInPlay() });
}

/** Send the turn's shots again, newly signed (SALVO-FIRE-13). @param {SessionState} session */
export function sendShots(session) {
  const view = session.gameInPlay();
  send(session, view, view.firedThisTurn, 1);
}

/** Send the skip again, newly signed. @param {SessionState} session */
export function sendSkip({ play, outbox }) {
  if (play.begun !== null) outbox.skip(play.begun);
}

/** Send the turn's shots and the skip again, newly signed. @param {SessionState} session */
export function sendShotsAndSkip(session) {
  sendShots(session);
  sendSkip(session);
}

/** Tell the player how the game ended. @param {SessionState} session */
export function reportEnd(session) {
  const { game, players } = session.gameInPlay();
  const { stats: all, winners, missed } = session.play;
  const stats = new Map([...all].filter(([player]) => players.includes(player)));
  const winner = winners?.length === 1 ? winners[0] : "";
  session.events.push({ type: "gameEnded", game, winner, stats, aborted: !winners?.length, missed });
}

/** Forget the game. @param {SessionState} session */
export function forget(session) {
  session.view = null;
  session.play = noProgress();
}

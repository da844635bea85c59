// Returning: a recap has all that a team missed (SALVO-JOIN-12); an old one is refused.

import { readRecap } from "../announcements.js";
import { sameBytes } from "../bytes.js";
import { Fleet } from "../rules.js";
import { View } from "../view.js";
import * as joining from "./joining.js";
import * as placing from "./placing.js";
import * as playing from "./playing.js";

/** @typedef {import("./state.js").SessionState} SessionState */
/** @typedef {import("../announcements.js").Recap} Recap */

/**
 * Ask for a seat, or for the old one: the connection is up again, or the server is back.
 *
 * In a game, no turn is answered before the recap has come: the last salvo's result may have been missed, and its shots
 * would pass for shots of the current turn. A game may also have begun since the fleet was placed.
 *
 * @param {SessionState} session
 */
export function comeBack(session) {
  session.connectedAt = session.now;
  session.table.listed = false;
  session.witness.connectedAnew();
  session.take("returning", session.inGame || session.hasFleet ? "connected" : "connected_new");
  if (session.wantsPlace) joining.want(session);
  else session.take("joining", "unwanted");
}

/** Open a sealed recap; null if it does not open, or is not readable. @param {SessionState} session @param {Uint8Array} payload */
function openRecap({ outbox }, payload) {
  try {
    return readRecap(outbox.sealer.openFromServer(payload));
  } catch {
    return null;
  }
}

/** Take up the game where the server has it. @param {SessionState} session @param {Uint8Array} payload */
export function recalled(session, payload) {
  const { table, table: { rules }, missedNews: awaited } = session;
  if (sameBytes(payload, session.recapPayload)) return; // delivered again: the server never seals two alike
  const recap = openRecap(session, payload);
  if (recap === null || isOld(session, recap)) return;
  const players = recap.players.length ? recap.players : table.players;
  table.players = players;
  // A broker that was killed has lost the rules; the server repeats them.
  if (rules === null || (recap.turn && !players.length)) return awaitRecap(session);
  session.take("following", recap.turn ? "denied" : "confirmed");
  session.newestRecap = recap;
  Object.assign(table, { players, listed: true, game: recap.game });
  if (!recap.turn) session.witness.cameBack(recap.game);
  let fleet = null;
  try {
    if (recap.fleet.length === rules.fleet.length) fleet = new Fleet(rules, recap.fleet);
  } catch {
    return awaitRecap(session); // forged rules on an open broker; the server's come again
  }
  session.recapPayload = payload;
  session.take("returning", "taken_up");
  session.take("joining", "answered");
  if (fleet === null) return completeFleet(session, recap);
  if (session.tableState === "over" && !session.hasFleet) session.play.missed = true;
  placing.recall(session, fleet);
  if (recap.turn) takeUp(session, recap, new View(rules, table.team, players, recap.game, fleet, session.random), awaited);
}

/**
 * Whether a recap is late, or replayed by an attacker (SALVO-JOIN-14).
 *
 * The server never knows less than it has announced. So if a view is ahead of a recap, either the view contains something
 * untrue or the recap is old. The team's own state tells them apart: it trusts a recap that it waits for, or requested
 * because of doubts, unless it has already taken up the same one.
 *
 * @param {SessionState} session @param {Recap} recap
 */
function isOld({ newestRecap, view, table, tableState, machines }, recap) {
  const order = newestRecap === null ? 1 : compare(recap.progress, newestRecap.progress);
  if (order < 0) return true;
  if (view === null) return tableState === "lobby" && recap.game < table.game;
  if (recap.game !== view.game) return recap.game < view.game;
  const less = recap.resolvedTurn < view.resolvedTurn;
  if (machines.returning.state === "doubting") return false;
  if (machines.returning.state === "returning") return less && order === 0;
  if (recap.resolvedTurn !== view.resolvedTurn) return less;
  return recap.turn < view.turn || recap.progress[3] < view.incoming.length;
}

/** @param {number[]} one @param {number[]} other */
const compare = (one, other) => one.map((number, at) => number - other[at]).find((difference) => difference !== 0) ?? 0;

/** @param {SessionState} session */
function awaitRecap(session) {
  session.take("returning", "unusable");
  session.request.awaitsRecap = true;
  session.take("joining", "unusable");
}

/** Send what the recap lacks, unless it has only just been sent. @param {SessionState} session @param {Recap} recap */
function completeFleet(session, recap) {
  placing.doubt(session, recap.fleet);
  const onItsWay = session.hasFleet && session.fleetSentAt >= (session.connectedAt ?? 0);
  if (!onItsWay && session.tableState === "lobby") session.take("placing", "needed");
}

// --- a game -----------------------------------------------------------------------------------------------------------

/** @param {SessionState} session @param {Recap} recap @param {View} view a new one @param {boolean} awaited */
function takeUp(session, recap, view, awaited) {
  const known = session.view;
  if (known === null) {
    session.witness.tookUp(recap.game, recap.turn);
    session.events.push({ type: "gameTakenUp", game: recap.game });
  }
  view.recall(recap);
  session.view = view;
  if (known?.game === view.game) {
    resume(session, known, view, awaited);
  } else {
    session.play.begun = null;
    session.take("playing", "taken_up");
  }
  if (session.tableState === "over") playing.end(session);
  else playing.beginTurn(session);
}

/** Go on with a game that the team was in. @param {SessionState} session @param {View} known @param {View} view @param {boolean} awaited */
function resume(session, known, view, awaited) {
  takeOverShots(session, known, view, awaited);
  view.untouched.continueFrom(known.untouched);
  const { turn } = session.play;
  if (turn === null || !playing.hasBegun(session, turn) || view.resolvedTurn >= turn.turn) return session.take("playing", "resolved");
  // The player may still be thinking: it is not asked again, and its answer stays valid.
  playing.putInTurn(session, view, turn, Math.min(known.shots, turn.shots - view.firedThisTurn.length));
  if (awaited) session.take("playing", "recalled");
}

/** Take over shots on their way that the recap lacks. @param {SessionState} session @param {View} known @param {View} view @param {boolean} awaited */
function takeOverShots(session, known, view, awaited) {
  const onTheirWay = known.firedThisTurn.slice(view.firedThisTurn.length);
  if (known.turnsKnown !== view.turnsKnown) return;
  // A broker that was killed may have lost them, so they are signed again; game, turn and number keep each from
  // counting twice. What a second recap lacks, requested before the first came, is sent already.
  if (awaited) playing.sendOn(session, view, onTheirWay);
  else view.fire(onTheirWay);
}

// Joining: from a connection to a place at the table, in a lobby or in a game that is on; refusals on the way.

import { sameBytes } from "../bytes.js";
import { TrustError } from "../errors.js";
import { fingerprint } from "../seal.js";
import { ASK_AGAIN_SECONDS, PATIENCE_SECONDS, SERVER_SECONDS } from "./machineStates.js";
import { SILENCE_SECONDS } from "./news.js";

/** @typedef {import("./state.js").SessionState} SessionState */
/** @typedef {Extract<import("./session.js").SessionEvent, {type: "refused"}>} Refused */

/**
 * Compare and store the server's identity, which is fixed for the length of the session (SALVO-IDENT-2).
 *
 * Only the key `sign` identifies it. A server without keys may be given some at any time.
 *
 * @param {SessionState} session @param {import("../announcements.js").ServerKeys | null} keys @param {string} profile
 * @throws {TrustError} `impostor`
 */
export function meet({ request, events }, keys, profile) {
  if (request.keys !== null && (keys === null || !sameBytes(keys.sign, request.keys.sign))) {
    const now = keys === null ? "has no key" : `is ${fingerprint(keys.sign)}`;
    throw new TrustError("impostor", `the server is ${fingerprint(request.keys.sign)}, but what publishes in its place now ${now}; `
      + "start again if the operator says that the server has a new identity");
  }
  const waits = keys === null && request.alwaysSeal;
  if (waits || !request.met || (keys !== null && request.keys === null)) events.push({ type: "serverMet", keys, profile });
  if (waits) return;
  request.met = true;
  request.keys = keys;
}

/** Ask for a place, for the old one, or for the recap. @param {SessionState} session */
export function want(session) {
  session.request.awaitsRecap = session.missedNews;
  session.take("joining", "wanted");
  proceed(session);
}

/** Ask if the server is known by now and there is something to ask. @param {SessionState} session */
export function proceed(session) {
  if (session.request.met) session.take("joining", "server_met");
}

/** Let time pass. @param {SessionState} session */
export function tick(session) {
  const { request, now } = session;
  const waited = now - request.entered;
  const { state } = session.machines.joining;
  if (state === "meeting" && waited > SERVER_SECONDS && !request.alwaysSeal) session.take("joining", "server_silent");
  request.due ??= now + PATIENCE_SECONDS;
  if (now > request.due && mayRepeat(session)) session.take("joining", "no_answer");
  if (session.tableState === "lobby" && !session.hasPlace && waited > PATIENCE_SECONDS) session.take("joining", "still_refused");
}

/** Whether a repeated request has a reader and a purpose. @param {SessionState} session */
function mayRepeat(session) {
  const { tableState, machines } = session;
  const wanted = machines.joining.state === "leaving" ? tableState === "lobby" && session.table.listed : session.wantsPlace;
  return session.serverHere && wanted && tableState !== null;
}

/** Report why nothing happens, if nothing does: probably wrong settings. @param {SessionState} session */
export function reportWaiting(session) {
  const { connectedAt, now, request } = session;
  if (connectedAt === null || session.table.listed || session.inGame) return;
  const asked = request.unansweredSince;
  const unanswered = session.serverHere && asked !== null && now - asked > SILENCE_SECONDS;
  session.events.push(...session.reports.silence(now - connectedAt, unanswered));
}

// --- refusals ---------------------------------------------------------------------------------------------------------

/** Apply the refusal of a command. @param {SessionState} session @param {string} code @param {string} text */
export function refused(session, code, text) {
  const { table, events, reports } = session;
  const refusal = /** @type {const} */ ({ type: "refused", code, text });
  session.request.unansweredSince = null;
  switch (code) {
    case "not_in_roster": case "sealed_required":
      if (!session.hasPlace) refuseName(session, refusal);
      return;
    case "name_taken":
      if (!table.listed && !session.hasFleet) break;
      // Else another program asked for this name and was refused; the name is ours.
      if (!session.hasFleet && session.machines.joining.state !== "idle") events.push(...reports.nameInUse());
      return;
    case "wrong_state": return refusedByState(session, refusal);
    case "table_full": case "not_invited": case "removed":
      if (table.listed) break;
      events.push(...reports.once(code, table.game, refusal));
      return;
    case "unknown_player":
      if (table.listed) break;
      return; // what it sent has crossed the news that it is off the list, and is for a place that it had
    case "placement_timeout":
      reports.leftOutOf = table.game;
      // The server's text is about the time, even if the game began early.
      events.push({ type: "refused", code, text: "the fleet was not complete when the game began, or its time ended" });
      return;
    case "turn_timeout": case "bank_empty":
      session.take("playing", "time_up");
  }
  events.push(refusal);
}

/** Note a refusal that was sent to the name, whichever program used it. @param {SessionState} session @param {Refused} refusal */
function refuseName(session, refusal) {
  session.take("joining", "name_refused");
  if (session.machines.joining.state === "disputed") session.request.refused = refusal;
}

/** @param {SessionState} session @param {Refused} refusal */
function refusedByState(session, refusal) {
  if (!session.inGame) {
    session.take("joining", "game_on");
    session.take("returning", "nothing_missed");
  }
  if (session.table.listed) session.events.push(refusal);
  else if (!session.inGame) session.events.push(...session.reports.gameOn(session.tableState));
}

// --- actions ----------------------------------------------------------------------------------------------------------

/** Wait for the server, unless it is known. @param {SessionState} session */
export function awaitServer(session) {
  forget(session);
  session.request.entered = session.now;
}

/** Send the request, sealed if the server has a key (SALVO-IDENT-4). @param {SessionState} session */
export function sendRequest({ request, now, outbox }) {
  request.due = now + (request.awaitsRecap ? PATIENCE_SECONDS : request.pauses.uniform(...ASK_AGAIN_SECONDS));
  request.unansweredSince ??= now;
  outbox.askForPlace(request.keys?.seal ?? null);
}

/** Send a message that the team leaves (SALVO-JOIN-15). @param {SessionState} session */
export function sendLeave(session) {
  forget(session);
  session.request.due = null;
  session.outbox.leave();
}

/** Forget the request. @param {SessionState} session */
export function forget({ request }) {
  request.unansweredSince = request.refused = null;
}

/** Send the request again at once: it may be lost, and the refusal may be for another program. @param {SessionState} session */
export function sendAtOnce({ request, now }) {
  request.entered = request.due = now;
}

/** Tell the player that it was refused. @param {SessionState} session */
export function reportRefusal({ request, events }) {
  if (request.refused !== null) events.push(request.refused);
  request.refused = null;
}

/** Send the request again later: the server repeats what is missing. @param {SessionState} session */
export function sendLater(session) {
  forget(session);
  session.request.due = session.now + PATIENCE_SECONDS;
}

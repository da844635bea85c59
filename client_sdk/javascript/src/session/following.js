// Following: the state of the table, its list, and whether the server is there.

import * as joining from "./joining.js";
import * as placing from "./placing.js";
import * as playing from "./playing.js";
import * as returning from "./returning.js";

/** @typedef {import("./state.js").SessionState} SessionState */
/** @typedef {import("../announcements.js").ServerStatus} ServerStatus */

/** Apply what the server publishes of itself. @param {SessionState} session @param {ServerStatus} status @param {boolean} retained */
export function serverSeen(session, status, retained) {
  session.chat = status.chat;
  session.witness.follow(status.keys?.sign ?? null, status.protocol.minor);
  joining.meet(session, status.keys, status.profile);
  if (status.keys !== null) session.outbox.meet(status.keys.sign);
  if (status.game) noteGame(session, status.game);
  if (status.presence === "elsewhere") { // a further table's message has no status, but comes after every connection as well
    if (!retained) session.take("server", "online_news");
  } else {
    const online = status.presence === "online";
    session.take("server", !online ? "offline" : retained ? "online" : "online_news");
    const presence = status.presence === "paused" ? "paused: it cannot write to its disk" : status.presence;
    session.events.push({ type: "serverSeen", online, presence });
  }
  joining.proceed(session);
}

/** @param {SessionState} session @param {number} game */
function noteGame(session, game) {
  const former = session.table.game;
  if (game !== former) session.take("following", "confirmed");
  if (former && game !== former && session.tableState === "lobby") session.take("placing", "dropped");
  session.table.game = game;
}

/** Apply the table's state. @param {SessionState} session @param {import("../announcements.js").State} state @param {boolean} retained */
export function stateChanged(session, state, retained) {
  const isOld = state === "lobby" && retained && session.view?.game === session.table.game;
  session.take("following", isOld ? "old_lobby" : state);
  playing.end(session);
}

/** Apply the list of players. @param {SessionState} session @param {string[]} names @param {boolean} retained */
export function playersListed(session, names, retained) {
  const { table, table: { team } } = session;
  const named = !retained && names.includes(team);
  if (named) session.take("following", "confirmed");
  const wasListed = table.listed;
  table.players = names;
  table.listed = names.includes(team);
  const struckOff = wasListed && !table.listed;
  if (struckOff) session.witness.struckOff(table.game);
  if (session.tableState !== "lobby") return;
  if (named && !session.inGame) session.take("returning", "nothing_missed");
  if (struckOff) {
    losePlace(session);
  } else if (named && !wasListed) {
    // A retained list that already has the name means that the team rejoins; then the recap has what to place.
    session.take("joining", "answered");
    session.take("placing", "needed");
  }
}

/** @param {SessionState} session */
function losePlace(session) {
  session.take("joining", "struck_off");
  session.take("placing", "dropped");
  if (session.wantsToPlay) joining.want(session);
}

/** Note whether a place is wanted, and ask for it in a lobby that the team had left. @param {SessionState} session @param {boolean} wantsToPlay */
export function wish(session, wantsToPlay) {
  const again = wantsToPlay && !session.wantsToPlay;
  session.wantsToPlay = wantsToPlay;
  if (again && session.tableState === "lobby" && !session.hasPlace) joining.want(session);
}

/** Leave the lobby, even with a complete fleet (SALVO-JOIN-15); in a game nothing is sent. @param {SessionState} session */
export function leave(session) {
  session.wantsToPlay = false;
  const state = session.tableState;
  if (state !== null && state !== "lobby") return session.take("joining", "unwanted"); // null: it may have asked already
  session.take("placing", "dropped");
  session.take("joining", session.table.listed ? "left" : "left_unlisted");
}

// --- actions ----------------------------------------------------------------------------------------------------------

/** Forget the game, and ask for a place if one is wanted. @param {SessionState} session */
export function openLobby(session) {
  forgetGame(session);
  if (session.wantsToPlay) joining.want(session);
}

/** Forget the game; a place that is wanted is still asked for. @param {SessionState} session */
export function forgetGame(session) {
  session.take("playing", "forgotten");
  session.take("placing", "dropped");
  session.take("returning", "forgotten");
  if (!session.wantsToPlay) session.take("joining", "unwanted");
  session.newestRecap = null;
  session.table.players = [];
  session.table.listed = false;
}

/** In a game as after a new connection; otherwise ask for a place, and treat no ship as approved. @param {SessionState} session */
export function resume(session) {
  if (session.inGame) returning.comeBack(session); // it may repeat old news: only the recap counts
  else if (session.wantsToPlay) rejoin(session);
}

/** In its game as after a new connection; otherwise ask, unless listed or in state `over`. @param {SessionState} session */
export function confirm(session) {
  const { view, table, tableState } = session;
  const settled = tableState === "over" || (tableState === "lobby" && table.listed);
  if (view !== null) {
    if (view.game === table.game) returning.comeBack(session);
  } else if (session.wantsToPlay && !settled) {
    // The request may have been lost. A status comes when a game without this team is cleared, too; then a lobby begins,
    // where the team asks anyway.
    rejoin(session);
  }
}

/** Ask a server that may have lost its list; otherwise it answers with the recap. @param {SessionState} session */
function rejoin(session) {
  session.table.listed = false;
  placing.doubt(session);
  joining.want(session);
}

// The states of a session's six machines, and their events; `tables.js` has what follows from what. A name is that of the
// Python SDK in lower case; a state's text says what it means, an event's when it happens.

/** How long a placement, a salvo or a request for the recap may go unanswered before it is sent again. */
export const PATIENCE_SECONDS = 3;
/** The shortest and the longest pause between two requests to take part: random, so that teams do not all ask at once. */
export const ASK_AGAIN_SECONDS = /** @type {const} */ ([3, 8]);
/** How long to wait for `/game/server`, which says whether to seal the secret; a server of the plain specification has none. */
export const SERVER_SECONDS = 2;
/** A salvo is sent again after at most this share of the turn's time, so that even a short turn has room for it. */
export const PATIENCE_SHARE = 1 / 3;

/** What has become of the request to take part. */
export const JoiningState = {
  idle: "requests nothing: the team has its place, waits for the next lobby, or wants no game",
  meeting: "wants to send a request, and waits for `/game/server`, which says whether to seal it",
  asking: "has sent a request, and has no answer",
  disputed: "has sent a request; its name was refused, perhaps to another program that used it",
  leaving: "has left the lobby, and is still listed",
};
/** What can happen to the request. */
export const JoiningEvent = {
  wanted: "a place, the old place, or the recap is wanted",
  server_met: "`/game/server` is known",
  server_silent: `no \`/game/server\` for ${SERVER_SECONDS} s, from a server not known to have a key`,
  no_answer: `no answer for ${ASK_AGAIN_SECONDS.join(" to ")} s, at random (SALVO-JOIN-16); for ${PATIENCE_SECONDS} s while waiting `
    + "for a recap or leaving",
  answered: "the name is listed, as news, or the recap arrives",
  game_on: "`wrong_state`: a game is running without the team",
  name_refused: "`not_in_roster` or `sealed_required`",
  still_refused: `in the lobby, ${PATIENCE_SECONDS} s without being listed`,
  unwanted: "the player wants no game",
  left: "the player leaves the lobby while it is listed",
  left_unlisted: "the player leaves the lobby before it is listed",
  struck_off: "the name is no longer listed, as news",
  unusable: "a recap arrives before the rules or the list that it belongs to",
};

/** How far the fleet is. */
export const PlacingState = {
  no_fleet: "the game has no fleet yet",
  choosing: "the player was asked for a fleet",
  placing: "the fleet is known, but not every ship is approved",
  placed: "every ship is approved, or is in a recap",
};
/** What can happen to the fleet. */
export const PlacingEvent = {
  needed: "the team is listed, as news, or a recap lacks ships",
  chosen: "the player gives a fleet",
  approved: "the last missing ship is approved",
  no_answer: `listed in the lobby with ships missing, and no answer for ${PATIENCE_SECONDS} s`,
  doubted: "in the lobby, the server was away or a recap lacks ships",
  recalled: "a recap has the whole fleet",
  dropped: "the team left or was removed, or another game begins",
};

/** Whose move it is. */
export const PlayingState = {
  no_game: "the team plays no game",
  waiting: "it is another player's turn, or the team's own turn is over",
  deciding: "the player was asked for a salvo",
  fired: "the turn's shots are sent, and the result is not known yet",
  skipped: "a skip is sent, and the result is not known yet",
  ended: "the game is over, and the player knows how it ended",
};
/** What can happen in a game. */
export const PlayingEvent = {
  taken_up: "the first turn begins, or a recap is about an unknown game",
  own_turn: "a turn begins in which this team has shots left",
  others_turn: "another turn begins",
  fired: "the player fires, and its shots are sent",
  skipped: "the player skips, and its skip is sent",
  no_result: `no result for ${PATIENCE_SECONDS} s, or a third of the turn if that is less; before the deadline, while the server is online `
    + "and no recap is awaited",
  resolved: "the result arrives, or a recap shows that the turn is over",
  time_up: "`turn_timeout` or `bank_empty`",
  recalled: "the awaited recap arrives during the turn",
  ended: "state `over`, last result, winner and all statistics have arrived, and agree",
  forgotten: "a lobby opens",
};

/** Whether the team knows how its game stands. */
export const ReturningState = {
  current: "has missed nothing",
  returning: "may have missed news: begins no turn and repeats no salvo before the recap",
  doubting: "the signed log contradicts the news: as `returning`, and trusts only a recap",
};
/** What can happen to that knowledge. */
export const ReturningEvent = {
  connected: "the connection or the server is back, and the session has a fleet or a game",
  connected_new: "the connection is back, and the session has neither fleet nor game",
  unusable: "a recap arrives before the rules or the list that it belongs to",
  taken_up: "a recap is accepted",
  nothing_missed: "outside of a game, the team is listed, as news, or `wrong_state`",
  doubted: "in a game, the signed log does not confirm the news",
  forgotten: "a lobby opens",
};

/** What the team takes the table's state to be. */
export const TablePhase = {
  unheard: "no message about it yet",
  lobby: "the lobby is open",
  turn: "a game is running",
  over: "a game is over",
  doubted: "a game was running; a broker that was killed says that the lobby is open, perhaps an old message",
};
/** What can be heard of the table's state. */
export const TableEvent = {
  lobby: "state `lobby`",
  old_lobby: "state `lobby`, retained, while the team plays the game that the server names",
  turn: "state `turn`",
  over: "state `over`",
  confirmed: "the team is listed, as news, the server names another game, or a recap of a lobby arrives",
  denied: "a recap of a game is accepted",
};

/** Whether the server is there, as far as is known; at a further table it stays here, as only the first one's status says so (SALVO-MQTT-5). */
export const ServerState = { here: "online", away: "offline, or paused by its journal" };
/** What `/game/server` can say. */
export const ServerEvent = {
  online: "online, retained",
  online_news: "online, or a further table's message, as news: a server publishes it after every connection, even if its absence went unnoticed",
  offline: "offline or paused",
};

/** @typedef {{joining: keyof typeof JoiningState, placing: keyof typeof PlacingState, playing: keyof typeof PlayingState,
 *   returning: keyof typeof ReturningState, following: keyof typeof TablePhase, server: keyof typeof ServerState}} States by machine */
/** @typedef {{joining: keyof typeof JoiningEvent, placing: keyof typeof PlacingEvent, playing: keyof typeof PlayingEvent,
 *   returning: keyof typeof ReturningEvent, following: keyof typeof TableEvent, server: keyof typeof ServerEvent}} Events by machine */

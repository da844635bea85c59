// What a client that loses nothing does: the state machines of the protocol specification, whose tables these are.

/**
 * A line of a table: in which states an event matters, which state follows (null: the same), what is done.
 *
 * @typedef {{event: string, sources: readonly string[], target: string | null, action: string | null}} Row
 */

/**
 * @typedef {object} Machine
 * @property {string} title
 * @property {{[state: string]: string}} states with their meanings; the first one is where it begins
 * @property {{[event: string]: string}} events with when they happen
 * @property {Row[]} rows
 */

/** What the actions do. */
export const ACTIONS = {
  wait: "wait for the server, unless it is known",
  request: "send the request, sealed if the server has a key (SALVO-IDENT-4)",
  leave: "send a message that the team leaves (SALVO-JOIN-15)",
  forgetRequest: "forget the request",
  dispute: "send the request again at once: it may be lost, and the refusal may be for another program",
  reportRefusal: "tell the player that it was refused",
  requestLater: "send the request again later: the server repeats what is missing",
  askFleet: "ask the player for a fleet",
  sendShips: "send the ships that are not approved",
  forgetFleet: "forget the fleet",
  askShots: "ask the player for its shots",
  repeatShots: "send the turn's shots again, newly signed (SALVO-FIRE-13)",
  repeatAll: "send the turn's shots and the skip again, newly signed",
  repeatSkip: "send the skip again, newly signed",
  reportEnd: "tell the player how the game ended",
  forgetView: "forget the game",
  askRecap: "ask for a place, for the old one, or for the recap",
  openLobby: "forget the game, and ask for a place if one is wanted",
  forgetGame: "forget the game",
  serverBack: "in a game as after a new connection; otherwise ask for a place, and treat no ship as approved",
  serverHere: "in its game as after a new connection; otherwise ask, unless listed or in state `over`",
};

/** @param {string} sources separated by spaces @param {string} event @param {string | null} target @param {string | null} action @returns {Row} */
const row = (sources, event, target, action = null) => ({ event, sources: sources.split(" "), target, action });

/** @type {{[name: string]: Machine}} */
export const MACHINES = {
  joining: {
    title: "Joining: the request to take part",
    states: {
      idle: "requests nothing: the team has its place, waits for the next lobby, or wants no game",
      meeting: "wants to send a request, and waits for `/game/server`, which says whether to seal it",
      asking: "has sent a request, and has no answer",
      disputed: "has sent a request; its name was refused, perhaps to another program that used it",
      leaving: "has left the lobby, and is still listed",
    },
    events: {
      wanted: "a place, the old place, or the recap is wanted",
      serverMet: "`/game/server` is known",
      serverSilent: "no `/game/server` for 2 s, from a server not known to have a key",
      noAnswer: "no answer for 3 to 8 s, at random (SALVO-JOIN-16); for 3 s while waiting for a recap or leaving",
      answered: "the name is listed, as news, or the recap arrives",
      gameOn: "`wrong_state`: a game is running without the team",
      nameRefused: "`not_in_roster` or `sealed_required`",
      stillRefused: "in the lobby, 3 s without being listed",
      unwanted: "the player wants no game",
      left: "the player leaves the lobby while it is listed",
      leftUnlisted: "the player leaves the lobby before it is listed",
      struckOff: "the name is no longer listed, as news",
      unusable: "a recap arrives before the rules or the list that it belongs to",
    },
    rows: [
      row("idle meeting asking disputed leaving", "wanted", "meeting", "wait"),
      row("meeting", "serverMet", "asking", "request"),
      row("meeting", "serverSilent", "asking", "request"),
      row("asking disputed", "noAnswer", null, "request"),
      row("leaving", "noAnswer", null, "leave"),
      row("meeting asking disputed", "answered", "idle", "forgetRequest"),
      row("asking disputed", "gameOn", "idle", "forgetRequest"),
      row("asking", "nameRefused", "disputed", "dispute"),
      row("disputed", "stillRefused", "asking", "reportRefusal"),
      row("meeting", "leftUnlisted", "idle", "forgetRequest"),
      row("meeting asking disputed", "unwanted", "idle", "forgetRequest"),
      row("idle meeting asking disputed leaving", "left", "leaving", "leave"),
      row("asking disputed", "leftUnlisted", "idle", "leave"),
      row("leaving", "struckOff", "idle"),
      row("idle asking disputed", "unusable", "asking", "requestLater"),
    ],
  },
  placing: {
    title: "Placing: the fleet",
    states: {
      no_fleet: "there is no fleet for this game",
      choosing: "the player was asked for a fleet",
      placing: "the fleet is known, but not every ship is approved",
      placed: "every ship is approved, or is in a recap",
    },
    events: {
      needed: "the team is listed, as news, or a recap lacks ships",
      chosen: "the player gives a fleet",
      approved: "the last missing ship is approved",
      noAnswer: "listed in the lobby with ships missing, and no answer for 3 s",
      doubted: "in the lobby, the server was away or a recap lacks ships",
      recalled: "a recap has the whole fleet",
      dropped: "the team left or was removed, or another game begins",
    },
    rows: [
      row("no_fleet choosing", "needed", "choosing", "askFleet"),
      row("placing", "needed", null, "sendShips"),
      row("no_fleet choosing placing placed", "chosen", "placing", "sendShips"),
      row("placing", "approved", "placed"),
      row("placing", "noAnswer", null, "sendShips"),
      row("placed", "doubted", "placing"),
      row("no_fleet choosing placing placed", "recalled", "placed"),
      row("choosing placing placed", "dropped", "no_fleet", "forgetFleet"),
    ],
  },
  playing: {
    title: "Playing: the turns",
    states: {
      no_game: "the team plays no game",
      waiting: "it is another player's turn, or the team's own turn is over",
      deciding: "the player was asked for a salvo",
      fired: "the turn's shots are sent, and there is no result yet",
      skipped: "a skip is sent, and there is no result yet",
      ended: "the game is over, and the player knows how it ended",
    },
    events: {
      takenUp: "the first turn begins, or a recap is about an unknown game",
      ownTurn: "a turn begins in which this team has shots left",
      othersTurn: "another turn begins",
      fired: "the player fires, and its shots are sent",
      skipped: "the player skips, and its skip is sent",
      noResult: "no result for 3 s, or a third of the turn if that is less; before the deadline, while the server is online "
        + "and no recap is awaited",
      recalled: "the awaited recap arrives during the turn",
      resolved: "the result arrives, or a recap shows that the turn is over",
      timeUp: "`turn_timeout` or `bank_empty`",
      ended: "state `over`, last result, winner and all statistics have arrived, and agree",
      forgotten: "a lobby opens",
    },
    rows: [
      row("no_game waiting deciding fired skipped ended", "takenUp", "waiting"),
      row("waiting deciding fired skipped", "ownTurn", "deciding", "askShots"),
      row("deciding fired skipped", "othersTurn", "waiting"),
      row("deciding", "fired", "fired"),
      row("deciding fired", "skipped", "skipped"),
      row("fired", "noResult", null, "repeatShots"),
      row("skipped", "noResult", null, "repeatAll"),
      row("skipped", "recalled", null, "repeatSkip"),
      row("deciding fired skipped", "resolved", "waiting"),
      row("deciding fired skipped", "timeUp", "waiting"),
      row("waiting deciding fired skipped", "ended", "ended", "reportEnd"),
      row("no_game waiting deciding fired skipped ended", "forgotten", "no_game", "forgetView"),
    ],
  },
  returning: {
    title: "Returning: the recap after an absence",
    states: {
      current: "has missed nothing",
      returning: "may have missed news: begins no turn and repeats no salvo before the recap",
      doubting: "the signed log contradicts the news: as `returning`, and trusts only a recap",
    },
    events: {
      connected: "the connection or the server is back, and there is a fleet or a game",
      connectedNew: "the connection is back, and there is neither fleet nor game",
      unusable: "a recap arrives before the rules or the list that it belongs to",
      takenUp: "a recap is accepted",
      nothingMissed: "outside of a game, the team is listed, as news, or `wrong_state`",
      doubted: "in a game, the signed log does not confirm the news",
      forgotten: "a lobby opens",
    },
    rows: [
      row("current", "connected", "returning"),
      row("current returning doubting", "connectedNew", "current"),
      row("current", "unusable", "returning"),
      row("current returning doubting", "takenUp", "current"),
      row("current returning doubting", "nothingMissed", "current"),
      row("current", "doubted", "doubting", "askRecap"),
      row("current returning doubting", "forgotten", "current"),
    ],
  },
  following: {
    title: "Following: the state of the table",
    states: {
      unheard: "no message about it yet",
      lobby: "the lobby is open",
      turn: "a game is running",
      over: "a game is over",
      doubted: "a game was running; a broker that was killed says that the lobby is open, perhaps an old message",
    },
    events: {
      lobby: "state `lobby`",
      oldLobby: "state `lobby`, retained, while the team plays the game that the server names",
      turn: "state `turn`",
      over: "state `over`",
      confirmed: "the team is listed, as news, the server names another game, or a recap of a lobby arrives",
      denied: "a recap of a game is accepted",
    },
    rows: [
      row("unheard", "lobby", "lobby"),
      row("turn over doubted", "lobby", "lobby", "openLobby"),
      row("unheard lobby turn over doubted", "oldLobby", "doubted"),
      row("unheard lobby turn over doubted", "turn", "turn"),
      row("unheard lobby turn over doubted", "over", "over"),
      row("doubted", "confirmed", "lobby", "forgetGame"),
      row("doubted", "denied", "turn"),
    ],
  },
  server: {
    title: "The server",
    states: {
      here: "online",
      away: "offline, or paused by its journal",
    },
    events: {
      online: "online, retained",
      onlineNews: "online, or a further table's message, as news: a server publishes it after every connection, even if its absence went unnoticed",
      offline: "offline or paused",
    },
    rows: [
      row("away", "online", "here", "serverBack"),
      row("away", "onlineNews", "here", "serverBack"),
      row("here", "onlineNews", null, "serverHere"),
      row("here", "offline", "away"),
    ],
  },
};

/**
 * The state that follows, and what is done; an event without a row changes nothing.
 *
 * @param {string} machine
 * @param {string} state
 * @param {string} event
 * @returns {{state: string, action: string | null}}
 */
export function next(machine, state, event) {
  const found = MACHINES[machine].rows.find((each) => each.event === event && each.sources.includes(state));
  return found === undefined ? { state, action: null } : { state: found.target ?? state, action: found.action };
}

/** Return the states in which the machines begin. @returns {{[machine: string]: string}} */
export const begin = () =>
  Object.fromEntries(Object.entries(MACHINES).map(([name, machine]) => [name, Object.keys(machine.states)[0]]));

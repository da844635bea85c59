// What a session does, as six state machines: the tables of the protocol specification, and of the Python SDK.
//
// Read it first. A session turns what it receives into the events of these machines; a transition changes the state and
// names the function that is called then. An event without a transition changes nothing: so a late or repeated message
// that no longer fits is ignored. `machineStates.js` says what each state and event means, a function what it does.
//
//     joining    the request to take part, and the old place
//     placing    the fleet of one game
//     playing    the salvo of a turn
//     returning  the recap after an absence, or a doubt
//     following  the state of the table
//     server     whether the server is there

import { Machine } from "../stateMachine.js";
import * as following from "./following.js";
import * as joining from "./joining.js";
import { JoiningState, PlacingState, PlayingState, ReturningState, TablePhase } from "./machineStates.js";
import * as placing from "./placing.js";
import * as playing from "./playing.js";

/** @typedef {import("./machineStates.js").States} States */
/** @typedef {import("./machineStates.js").Events} Events */
/** @typedef {(session: import("./state.js").SessionState) => void} Action what a transition asks for */
/** @typedef {{readonly [Name in keyof States]: Machine<States[Name], Events[Name], Action>}} Machines */
/** @template {keyof States} Name @typedef {import("../stateMachine.js").Transition<States[Name], Events[Name], Action>[]} Table */

/**
 * @template {string} S @template {string} E
 * @param {readonly S[]} sources @param {E} event @param {S | null} target @param {Action | null} action
 */
const transition = (sources, event, target, action = null) => ({ sources, event, target, action });

/** @template {object} T @param {T} states */
const all = (states) => /** @type {(keyof T & string)[]} */ (Object.keys(states));

/** @type {Table<"joining">} */
export const JOINING = [
  transition(all(JoiningState), "wanted", "meeting", joining.awaitServer),
  transition(["meeting"], "server_met", "asking", joining.sendRequest),
  transition(["meeting"], "server_silent", "asking", joining.sendRequest),
  transition(["asking", "disputed"], "no_answer", null, joining.sendRequest),
  transition(["leaving"], "no_answer", null, joining.sendLeave),
  transition(["meeting", "asking", "disputed"], "answered", "idle", joining.forget),
  transition(["asking", "disputed"], "game_on", "idle", joining.forget),
  transition(["asking"], "name_refused", "disputed", joining.sendAtOnce),
  transition(["disputed"], "still_refused", "asking", joining.reportRefusal),
  transition(["meeting"], "left_unlisted", "idle", joining.forget),
  transition(["meeting", "asking", "disputed"], "unwanted", "idle", joining.forget),
  transition(all(JoiningState), "left", "leaving", joining.sendLeave),
  transition(["asking", "disputed"], "left_unlisted", "idle", joining.sendLeave),
  transition(["leaving"], "struck_off", "idle"),
  transition(["idle", "asking", "disputed"], "unusable", "asking", joining.sendLater),
];

/** @type {Table<"placing">} */
export const PLACING = [
  transition(["no_fleet", "choosing"], "needed", "choosing", placing.askPlayer),
  transition(["placing"], "needed", null, placing.send),
  transition(all(PlacingState), "chosen", "placing", placing.send),
  transition(["placing"], "approved", "placed"),
  transition(["placing"], "no_answer", null, placing.send),
  transition(["placed"], "doubted", "placing"),
  transition(all(PlacingState), "recalled", "placed"),
  transition(["choosing", "placing", "placed"], "dropped", "no_fleet", placing.forget),
];

const OWN_TURN = /** @type {const} */ (["deciding", "fired", "skipped"]);
/** @type {Table<"playing">} */
export const PLAYING = [
  transition(all(PlayingState), "taken_up", "waiting"),
  transition(["waiting", ...OWN_TURN], "own_turn", "deciding", playing.askPlayer),
  transition(OWN_TURN, "others_turn", "waiting"),
  transition(["deciding"], "fired", "fired"),
  transition(["deciding", "fired"], "skipped", "skipped"),
  transition(["fired"], "no_result", null, playing.sendShots),
  transition(["skipped"], "no_result", null, playing.sendShotsAndSkip),
  transition(["skipped"], "recalled", null, playing.sendSkip),
  transition(OWN_TURN, "resolved", "waiting"),
  transition(OWN_TURN, "time_up", "waiting"),
  transition(["waiting", ...OWN_TURN], "ended", "ended", playing.reportEnd),
  transition(all(PlayingState), "forgotten", "no_game", playing.forget),
];

/** @type {Table<"returning">} */
export const RETURNING = [
  transition(["current"], "connected", "returning"),
  transition(all(ReturningState), "connected_new", "current"),
  transition(["current"], "unusable", "returning"),
  transition(all(ReturningState), "taken_up", "current"),
  transition(all(ReturningState), "nothing_missed", "current"),
  transition(["current"], "doubted", "doubting", joining.want),
  transition(all(ReturningState), "forgotten", "current"),
];

/** @type {Table<"following">} */
export const FOLLOWING = [
  transition(["unheard"], "lobby", "lobby"),
  transition(["turn", "over", "doubted"], "lobby", "lobby", following.openLobby),
  transition(all(TablePhase), "old_lobby", "doubted"),
  transition(all(TablePhase), "turn", "turn"),
  transition(all(TablePhase), "over", "over"),
  transition(["doubted"], "confirmed", "lobby", following.forgetGame),
  transition(["doubted"], "denied", "turn"),
];

/** @type {Table<"server">} */
export const SERVER = [
  transition(["away"], "online", "here", following.resume),
  transition(["away"], "online_news", "here", following.resume),
  transition(["here"], "online_news", null, following.confirm),
  transition(["here"], "offline", "away"),
];

/** Return the six machines of a new session. @returns {Machines} */
export const machines = () => ({
  joining: new Machine(JOINING, "idle"),
  placing: new Machine(PLACING, "no_fleet"),
  playing: new Machine(PLAYING, "no_game"),
  returning: new Machine(RETURNING, "current"),
  following: new Machine(FOLLOWING, "unheard"),
  server: new Machine(SERVER, "here"),
});

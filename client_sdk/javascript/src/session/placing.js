// Placing: the fleet of one game, until the server has all of it.

import { PATIENCE_SECONDS } from "./machineStates.js";

/** @typedef {import("./state.js").SessionState} SessionState */
/** @typedef {import("../rules.js").Fleet} Fleet */

/** Refusals that mean that the server has every ship of the team (SALVO-PLACE-7, SALVO-JOIN-5). */
const WHOLE_FLEET = new Set(["fleet_final", "wrong_state"]);

/** Place a fleet, ship by ship. @param {SessionState} session @param {Fleet} fleet */
export function choose(session, fleet) {
  session.fleet = fleet;
  session.approved = new Set();
  session.take("placing", "chosen");
}

/** Note that the server has a ship. @param {SessionState} session @param {string} ship */
export function approve(session, ship) {
  const { fleet, approved } = session;
  approved.add(ship);
  if (fleet?.placements.every((placement) => approved.has(placement.ship))) session.take("placing", "approved");
}

/**
 * Pass on the refusal of a ship that the server lacks; that of a ship sent twice is no news.
 *
 * @param {SessionState} session @param {{ship: string, code: string, text: string}} refusal
 */
export function refused(session, { ship, code, text }) {
  session.witness.refused(session.table.game);
  if (WHOLE_FLEET.has(code)) approve(session, ship);
  if (!session.approved.has(ship)) session.events.push({ type: "refused", code, text });
}

/**
 * Take no ships for approved but those that the server has, as its recap shows.
 *
 * @param {SessionState} session @param {import("../rules.js").Placement[]} placed
 */
export function doubt(session, placed = []) {
  if (session.fleet !== null) {
    const own = new Set(session.fleet.placements.map((placement) => JSON.stringify(placement)));
    session.approved = new Set(placed.filter((placement) => own.has(JSON.stringify(placement))).map(({ ship }) => ship));
  }
  session.take("placing", "doubted");
}

/** Take over the fleet that the server has. @param {SessionState} session @param {Fleet} fleet */
export function recall(session, fleet) {
  session.fleet = fleet;
  session.approved = new Set(fleet.placements.map(({ ship }) => ship));
  session.take("placing", "recalled");
}

/** Let time pass; in a lobby that does not list the team, nobody waits for its ships. @param {SessionState} session */
export function tick(session) {
  const listed = session.tableState === "lobby" && session.table.listed;
  if (listed && session.now - session.fleetSentAt > PATIENCE_SECONDS) session.take("placing", "no_answer");
}

// --- actions ----------------------------------------------------------------------------------------------------------

/** Ask the player for a fleet. @param {SessionState} session */
export function askPlayer({ table: { rules, game }, events }) {
  if (rules !== null) events.push({ type: "fleetWanted", rules, game });
}

/** Send the ships that are not approved. @param {SessionState} session */
export function send(session) {
  session.fleetSentAt = session.now;
  session.outbox.place(session.fleet?.placements.filter(({ ship }) => !session.approved.has(ship)) ?? []);
}

/** Forget the fleet. @param {SessionState} session */
export function forget(session) {
  session.fleet = null;
  session.approved = new Set();
}

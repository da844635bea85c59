// State machines whose transition table is all that decides where they go; who owns a machine does what it asks for.

/**
 * One line of a transition table: the states in which an event matters, the state that follows (null: the same), and what
 * is to be done then (null: nothing).
 *
 * @template S, E, A
 * @typedef {{readonly sources: readonly S[], readonly event: E, readonly target: S | null, readonly action: A | null}} Transition
 */

/** A state that only its table changes; an event without a transition changes nothing and asks for nothing. @template S, E, A */
export class Machine {
  #transitions;

  /** @param {readonly Transition<S, E, A>[]} transitions @param {S} state where it begins */
  constructor(transitions, state) {
    this.#transitions = transitions;
    this.state = state;
  }

  /** Change the state as the table says; return what is to be done. @param {E} event */
  handle(event) {
    const found = this.#transitions.find((each) => each.event === event && each.sources.includes(this.state));
    this.state = found?.target ?? this.state;
    return found?.action ?? null;
  }
}

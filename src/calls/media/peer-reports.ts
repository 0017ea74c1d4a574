import { hangUpText, leavingText, type MediaState, parseMediaState } from "#calls/signaling/messages.ts";

type PeerReportEvents = {
  /** The media state changed. */
  changed(): void;
  hungUp(): void;
};

/** Reports of a device of the other person about itself, received over the data channel or as signals. */
export class PeerReports {
  readonly #events: PeerReportEvents;
  #state: MediaState | undefined;
  #isGone = false;

  constructor(events: PeerReportEvents) {
    this.#events = events;
  }

  /** Latest media state. */
  get state(): MediaState | undefined {
    return this.#state;
  }
  /** Whether the page of the other side was closed. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Forgets the reports, because a new generation begins. */
  reset(): void {
    this.#state = undefined;
    this.#isGone = false;
  }

  /** Records that the page was closed. */
  markGone(): void {
    this.#isGone = true;
  }

  /** Receives a text of the data channel. */
  receiveText(text: string): void {
    if (text === leavingText) {
      this.#isGone = true;
      return;
    }
    if (text === hangUpText) {
      this.#events.hungUp();
      return;
    }
    const state = parseMediaState(text); // a state sent earlier may arrive after the message that the page is closing
    if (state) this.receiveState(state);
  }

  receiveState(state: MediaState): void {
    if (this.#state && state.n <= this.#state.n) return;
    this.#state = state;
    this.#events.changed();
  }
}

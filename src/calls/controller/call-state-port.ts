import type { CallNotice } from "#calls/views.ts";
import type { Call } from "#contract/calls/call.ts";
import type { CallEvent, CallState, LocalCall } from "#contract/calls/local-call.ts";
import type { Uuid } from "#contract/ids.ts";

/** Call state of this tab, as the controller offers it to its collaborators. */
export type CallStatePort = {
  getState(): CallState;
  /** The call that rings or is active in this tab. Glare may replace a dialled call by the other person's. */
  findCall(): LocalCall | undefined;
  /** Feeds an event to the state machine. */
  dispatch(event: CallEvent): void;
  /** Stores the latest server version of the current call. */
  setServerCall(call: Call): void;
  /** Ignores later events about a call that has ended for this browser. */
  markEnded(call: Uuid): void;
  /** Resolves once the server knows the call of this tab. */
  waitUntilRegistered(): Promise<void>;
  /** Whether the browser reports a network. */
  isOnline(): boolean;
  showNotice(notice: CallNotice): void;
  /** Shows the current state and media on the screen. */
  publishView(): void;
};

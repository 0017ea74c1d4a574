import type { CallMediaSession } from "#calls/media/media-session.ts";
import type { CallSyncPort } from "#calls/sync-port.ts";
import { type Call, type DeviceId, getRingEndsAt } from "#contract/calls/call.ts";
import type { LocalCall } from "#contract/calls/local-call.ts";
import { type ConversationId, otherMember, type Uuid } from "#contract/ids.ts";
import type { CallFeedEvent } from "#sync/connection/call-feed.ts";
import type { CallRequests } from "./call-requests.ts";
import { withLocalTimes } from "./call-result.ts";
import type { CallStatePort } from "./call-state-port.ts";
import type { PendingHangups } from "./pending-hangups.ts";
import { isOwned } from "./saved-call.ts";

type CallEventPort = CallStatePort & {
  getMedia(): CallMediaSession | undefined;
  /** Whether this tab is already rejoining the call, so that it need not ring. */
  isRejoining(call: Uuid): boolean;
  /** Removes the call without showing the ended screen. */
  dismiss(): void;
};

type CallPlace = Pick<Call, "call_id" | "conversation">;

/** The id alone is not enough: it may be reused in another conversation. */
const isSameCall = (call: LocalCall | undefined, { call_id, conversation }: CallPlace): boolean =>
  call?.id === call_id && call.conversation === conversation;

const endedMemoryMs = 120_000; // later events carry the same id only if it was reused for another call

/**
 * Handles call events from the server and from other tabs of this browser, and dispatches what concerns the call of
 * this tab.
 */
export class CallEventHandler {
  readonly #sync: CallSyncPort;
  readonly #deviceId: DeviceId;
  readonly #hangups: PendingHangups;
  readonly #requests: CallRequests;
  readonly #port: CallEventPort;
  /**
   * Time of the end of calls that ended for this browser. The key is the call id, prefixed with the conversation if the
   * server named it.
   */
  readonly #endedCalls = new Map<string, number>();

  constructor(
    sync: CallSyncPort,
    deviceId: DeviceId,
    hangups: PendingHangups,
    requests: CallRequests,
    port: CallEventPort,
  ) {
    this.#sync = sync;
    this.#deviceId = deviceId;
    this.#hangups = hangups;
    this.#requests = requests;
    this.#port = port;
  }

  /** Ignores later events about a call that has ended for this browser. */
  markEnded(id: Uuid, conversation: ConversationId | "" = ""): void {
    const now = this.#sync.platform.now();
    for (const [key, endedAt] of this.#endedCalls) if (now - endedAt > endedMemoryMs) this.#endedCalls.delete(key);
    this.#endedCalls.set(conversation + id, now);
  }

  handleEvent(event: CallFeedEvent): void {
    switch (event.event_type) {
      case "ring":
      case "answered":
        this.#onCall(event.data);
        break;
      case "signal": {
        const { from_device, to_device, signal } = event.data;
        const isForMe = (to_device ?? this.#deviceId) === this.#deviceId;
        if (!isForMe || !this.#isCurrentCall(event.data)) break;
        this.#port.getMedia()?.receiveSignal(from_device, signal);
        // The first signal of a device of the other person means that it rings.
        if (this.#port.getState().phase === "outgoing") this.#port.dispatch({ type: "peerRinging" });
        break;
      }
      case "standing":
        this.#onSnapshot(event.calls);
        break;
      case "taken":
        this.markEnded(event.data.call_id);
        if (this.#port.getState().phase === "ringing" && this.#port.findCall()?.id === event.data.call_id)
          this.#port.dismiss();
        break;
      default: {
        const { call_id: id, conversation, seconds, reason } = event.data;
        this.markEnded(id, conversation);
        if (this.#isCurrentCall(event.data))
          this.#port.dispatch({ type: "over", id, status: event.event_type, seconds, reason });
        else if (reason === "busy") this.#onBusy(conversation);
      }
    }
  }

  /** Shows that somebody called and got a busy answer. */
  #onBusy(conversation: ConversationId): void {
    const peer = otherMember(conversation, this.#sync.me);
    if (peer && isOwned(this.#port.getState())) this.#port.showNotice({ notice: "called", peer });
  }

  /** Whether an event concerns the call of this tab. */
  #isCurrentCall(serverCall: CallPlace): boolean {
    return isSameCall(this.#port.findCall(), serverCall);
  }

  /** Handles calls that are known to be active. */
  handleActiveCalls(calls: readonly Call[]): void {
    for (const call of calls) this.#onCall(call);
  }

  /** Handles the list of active calls after the connection to the server was restored. */
  #onSnapshot(calls: readonly Call[]): void {
    const state = this.#port.getState();
    const call = this.#port.findCall();
    const isRegistered = state.phase !== "outgoing" || state.isRegistered;
    if (call && isRegistered && !calls.some((serverCall) => this.#isCurrentCall(serverCall)))
      void this.#requests.checkState(call);
    this.handleActiveCalls(calls);
    this.#port.getMedia()?.resendSignals();
    this.#hangups.sendNow();
  }

  #onCall(serverCall: Call): void {
    const state = this.#port.getState();
    const device = this.#deviceId;
    if (this.#isCurrentCall(serverCall)) {
      this.#port.setServerCall(serverCall);
      const call = withLocalTimes(this.#sync, serverCall);
      if (serverCall.answered_at !== null) this.#onAnswered(call);
      else if (serverCall.ring !== undefined) this.#port.dispatch({ type: "ringChanged", call });
    } else if (serverCall.answered_at === null) this.#onRing(serverCall);
    else if (state.phase === "ended" && isSameCall(state.call, serverCall))
      this.#onAnswered(withLocalTimes(this.#sync, serverCall));
    else if (
      state.phase === "outgoing" &&
      state.call.conversation === serverCall.conversation &&
      serverCall.to_device === device
    ) {
      // Glare: the server merged both calls into the other person's one.
      this.#port.setServerCall(serverCall);
      this.#port.dispatch({ type: "created", call: withLocalTimes(this.#sync, serverCall), device });
    }
  }

  #onRing(serverCall: Call): void {
    const { me, platform } = this.#sync;
    const { call_id: id, to } = serverCall;
    if (to !== me || this.#port.findCall() || this.#hasEnded(serverCall) || this.#hangups.has(id)) return;
    const call = withLocalTimes(this.#sync, serverCall);
    if (this.#port.isRejoining(id) || platform.now() >= getRingEndsAt(call)) return;
    this.#port.setServerCall(serverCall);
    this.#port.dispatch({ type: "ring", call });
  }

  #hasEnded({ call_id, conversation }: Call): boolean {
    return this.#endedCalls.has(call_id) || this.#endedCalls.has(conversation + call_id);
  }

  #onAnswered(call: Call): void {
    const device = this.#deviceId;
    switch (this.#port.getState().phase) {
      case "outgoing":
        this.#port.dispatch({ type: "answered", call, device });
        break;
      case "ringing":
      case "ended": // it was declined here at the same moment
        this.#port.dispatch({ type: "answered", call, device });
        // Only an answer on another device is shown; an answer in another tab of this browser is not.
        if (call.to_device === device) this.#port.dismiss();
        break;
      case "connecting":
        if (call.to === this.#sync.me && call.to_device === device) this.#port.dispatch({ type: "accepted", call });
    }
  }
}

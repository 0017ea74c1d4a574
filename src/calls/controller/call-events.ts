import type { CallSyncPort } from "#calls/link.ts";
import type { CallMediaSession } from "#calls/media/media-session.ts";
import type { CallNotice } from "#calls/views.ts";
import type { Call, DeviceId } from "#contract/calls/call.ts";
import type { CallEvent, CallState, LocalCall } from "#contract/calls/call-machine.ts";
import { type ConversationId, otherMember, type Uuid } from "#contract/ids.ts";
import { callRingMs } from "#contract/limits.ts";
import type { CallFeedEvent } from "#sync/calls/call-feed.ts";
import { type CallRequests, withLocalTimes } from "./call-requests.ts";
import type { PendingHangups } from "./pending-hangups.ts";
import { isOwned } from "./saved-call.ts";

export type CallEventPort = {
  state(): CallState;
  /** The call that goes on or rings here. */
  call(): LocalCall | undefined;
  step(event: CallEvent): void;
  learn(call: Call): void;
  media(): CallMediaSession | undefined;
  /** It is coming into this tab by itself. */
  isTaking(call: Uuid): boolean;
  say(saying: CallNotice): void;
  /** Goes without a screen that tells how it ended. */
  leave(): void;
};

const endedMemoryMs = 120_000; // what is told of a call later than this is of another one

/** What the server and this browser's other tabs tell, and what it means for the call of this tab. */
export class CallEventHandler {
  readonly #sync: CallSyncPort;
  readonly #deviceId: DeviceId;
  readonly #hangups: PendingHangups;
  readonly #requests: CallRequests;
  readonly #port: CallEventPort;
  /** Calls that are over for this browser, and when they were; with the conversation where the server named it. */
  readonly #endedCalls = new Map<string, number>();

  constructor(link: CallSyncPort, device: DeviceId, ends: PendingHangups, asker: CallRequests, host: CallEventPort) {
    this.#sync = link;
    this.#deviceId = device;
    this.#hangups = ends;
    this.#requests = asker;
    this.#port = host;
  }

  /** It is over here: what comes late does not bring it back. */
  markEnded(id: Uuid, conversation: ConversationId | "" = ""): void {
    const now = this.#sync.platform.now();
    for (const [left, at] of this.#endedCalls) if (now - at > endedMemoryMs) this.#endedCalls.delete(left);
    this.#endedCalls.set(conversation + id, now);
  }

  handleEvent(news: CallFeedEvent): void {
    switch (news.event_type) {
      case "ring":
      case "answered":
        this.#onCall(news.data);
        break;
      case "signal": {
        const { from_device, to_device, signal } = news.data;
        const isForMe = (to_device ?? this.#deviceId) === this.#deviceId;
        if (!isForMe || !this.#isCurrentCall(news.data)) break;
        this.#port.media()?.receiveSignal(from_device, signal);
        // The first that a device of theirs says is that it rings.
        if (this.#port.state().at === "outgoing") this.#port.step({ type: "rings" });
        break;
      }
      case "standing":
        this.#onSnapshot(news.calls);
        break;
      case "taken":
        this.markEnded(news.data.call_id);
        if (this.#port.state().at === "ringing" && this.#port.call()?.id === news.data.call_id) this.#port.leave();
        break;
      default: {
        const { call_id: id, conversation, seconds, reason } = news.data;
        this.markEnded(id, conversation);
        if (this.#isCurrentCall(news.data))
          this.#port.step({ type: "over", id, status: news.event_type, seconds, reason });
        else if (reason === "busy") this.#onBusy(conversation);
      }
    }
  }

  /** Somebody called who was told that this person is in a call. */
  #onBusy(conversation: ConversationId): void {
    const peer = otherMember(conversation, this.#sync.me);
    if (peer && isOwned(this.#port.state())) this.#port.say({ notice: "called", peer });
  }

  /** Whether that is the call of this tab: somebody else may have taken its id for another. */
  #isCurrentCall({ call_id, conversation }: Pick<Call, "call_id" | "conversation">): boolean {
    const call = this.#port.call();
    return call?.id === call_id && call.conversation === conversation;
  }

  /** Calls that are known to be under way. */
  handleOpenCalls(calls: readonly Call[]): void {
    for (const call of calls) this.#onCall(call);
  }

  /** The way to the server is there again, and these are under way. */
  #onSnapshot(calls: readonly Call[]): void {
    const state = this.#port.state();
    const call = this.#port.call();
    const isKnown = state.at !== "outgoing" || state.isRegistered;
    if (call && isKnown && !calls.some((told) => this.#isCurrentCall(told))) void this.#requests.checkState(call);
    this.handleOpenCalls(calls);
    this.#port.media()?.resendSignals();
    this.#hangups.sendNow();
  }

  #onCall(told: Call): void {
    const state = this.#port.state();
    const device = this.#deviceId;
    if (this.#isCurrentCall(told)) {
      this.#port.learn(told);
      if (told.answered_at !== null) this.#onAnswered(withLocalTimes(this.#sync, told));
    } else if (told.answered_at === null) this.#onRing(told);
    else if (state.at === "outgoing" && state.call.conversation === told.conversation && told.to_device === device) {
      // The other one called at the same moment, and the server made one call of the two.
      this.#port.learn(told);
      this.#port.step({ type: "created", call: withLocalTimes(this.#sync, told), device });
    }
  }

  #onRing(told: Call): void {
    const { me, platform } = this.#sync;
    const { call_id: id, to } = told;
    if (to !== me || this.#port.call() || this.#hasEnded(told) || this.#hangups.has(id)) return;
    const call = withLocalTimes(this.#sync, told);
    if (this.#port.isTaking(id) || platform.now() >= call.created_at + callRingMs) return;
    this.#port.learn(told);
    this.#port.step({ type: "ring", call });
  }

  #hasEnded({ call_id, conversation }: Call): boolean {
    return this.#endedCalls.has(call_id) || this.#endedCalls.has(conversation + call_id);
  }

  #onAnswered(call: Call): void {
    const device = this.#deviceId;
    switch (this.#port.state().at) {
      case "outgoing":
        this.#port.step({ type: "answered", call, device });
        break;
      case "ringing":
        this.#port.step({ type: "answered", call, device });
        // That it was taken on another device is told; that it was in another tab needs no telling.
        if (call.to_device === device) this.#port.leave();
        break;
      case "connecting":
        if (call.to === this.#sync.me && call.to_device === device) this.#port.step({ type: "accepted", call });
    }
  }
}

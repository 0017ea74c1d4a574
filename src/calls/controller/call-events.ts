import type { CallLink } from "#calls/link.ts";
import type { MediaPlane } from "#calls/media/media-session.ts";
import type { CallSaying } from "#calls/views.ts";
import type { Call, Device } from "#contract/calls/call.ts";
import type { CallEvent, CallPlace, CallState } from "#contract/calls/call-machine.ts";
import { type ConversationId, otherMember, type Uuid } from "#contract/ids.ts";
import { callRingMs } from "#contract/limits.ts";
import type { CallNews } from "#sync/calls/call-feed.ts";
import { type CallAsker, toHere } from "./call-requests.ts";
import type { Ends } from "./pending-hangups.ts";
import { isOwned } from "./saved-call.ts";

export type EarHost = {
  state(): CallState;
  /** The call that goes on or rings here. */
  call(): CallPlace | undefined;
  step(event: CallEvent): void;
  learn(call: Call): void;
  media(): MediaPlane | undefined;
  /** It is coming into this tab by itself. */
  isTaking(call: Uuid): boolean;
  say(saying: CallSaying): void;
  /** Goes without a screen that tells how it ended. */
  leave(): void;
};

const leftMs = 120_000; // what is told of a call later than this is of another one

/** What the server and this browser's other tabs tell, and what it means for the call of this tab. */
export class CallEar {
  readonly #link: CallLink;
  readonly #device: Device;
  readonly #ends: Ends;
  readonly #asker: CallAsker;
  readonly #host: EarHost;
  /** Calls that are over for this browser, and when they were; with the conversation where the server named it. */
  readonly #left = new Map<string, number>();

  constructor(link: CallLink, device: Device, ends: Ends, asker: CallAsker, host: EarHost) {
    this.#link = link;
    this.#device = device;
    this.#ends = ends;
    this.#asker = asker;
    this.#host = host;
  }

  /** It is over here: what comes late does not bring it back. */
  forget(id: Uuid, conversation: ConversationId | "" = ""): void {
    const now = this.#link.platform.now();
    for (const [left, at] of this.#left) if (now - at > leftMs) this.#left.delete(left);
    this.#left.set(conversation + id, now);
  }

  hear(news: CallNews): void {
    switch (news.event_type) {
      case "ring":
      case "answered":
        this.#onCall(news.data);
        break;
      case "signal": {
        const { from_device, to_device, signal } = news.data;
        const isForMe = (to_device ?? this.#device) === this.#device;
        if (!isForMe || !this.#isHere(news.data)) break;
        this.#host.media()?.receive(from_device, signal);
        // The first that a device of theirs says is that it rings.
        if (this.#host.state().at === "outgoing") this.#host.step({ type: "rings" });
        break;
      }
      case "standing":
        this.#onStanding(news.calls);
        break;
      case "taken":
        this.forget(news.data.call_id);
        if (this.#host.state().at === "ringing" && this.#host.call()?.id === news.data.call_id) this.#host.leave();
        break;
      default: {
        const { call_id: id, conversation, seconds, reason } = news.data;
        this.forget(id, conversation);
        if (this.#isHere(news.data)) this.#host.step({ type: "over", id, status: news.event_type, seconds, reason });
        else if (reason === "busy") this.#onBusy(conversation);
      }
    }
  }

  /** Somebody called who was told that this person is in a call. */
  #onBusy(conversation: ConversationId): void {
    const peer = otherMember(conversation, this.#link.me);
    if (peer && isOwned(this.#host.state())) this.#host.say({ notice: "called", peer });
  }

  /** Whether that is the call of this tab: somebody else may have taken its id for another. */
  #isHere({ call_id, conversation }: Pick<Call, "call_id" | "conversation">): boolean {
    const call = this.#host.call();
    return call?.id === call_id && call.conversation === conversation;
  }

  /** Calls that are known to be under way. */
  look(calls: readonly Call[]): void {
    for (const call of calls) this.#onCall(call);
  }

  /** The way to the server is there again, and these are under way. */
  #onStanding(calls: readonly Call[]): void {
    const state = this.#host.state();
    const call = this.#host.call();
    const isKnown = state.at !== "outgoing" || state.isKnown;
    if (call && isKnown && !calls.some((told) => this.#isHere(told))) void this.#asker.standing(call);
    this.look(calls);
    this.#host.media()?.resend();
    this.#ends.hurry();
  }

  #onCall(told: Call): void {
    const state = this.#host.state();
    const device = this.#device;
    if (this.#isHere(told)) {
      this.#host.learn(told);
      if (told.answered_at !== null) this.#onAnswered(toHere(this.#link, told));
    } else if (told.answered_at === null) this.#onRing(told);
    else if (state.at === "outgoing" && state.call.conversation === told.conversation && told.to_device === device) {
      // The other one called at the same moment, and the server made one call of the two.
      this.#host.learn(told);
      this.#host.step({ type: "created", call: toHere(this.#link, told), device });
    }
  }

  #onRing(told: Call): void {
    const { me, platform } = this.#link;
    const { call_id: id, to } = told;
    if (to !== me || this.#host.call() || this.#hasLeft(told) || this.#ends.has(id)) return;
    const call = toHere(this.#link, told);
    if (this.#host.isTaking(id) || platform.now() >= call.created_at + callRingMs) return;
    this.#host.learn(told);
    this.#host.step({ type: "ring", call });
  }

  #hasLeft({ call_id, conversation }: Call): boolean {
    return this.#left.has(call_id) || this.#left.has(conversation + call_id);
  }

  #onAnswered(call: Call): void {
    const device = this.#device;
    switch (this.#host.state().at) {
      case "outgoing":
        this.#host.step({ type: "answered", call, device });
        break;
      case "ringing":
        this.#host.step({ type: "answered", call, device });
        // That it was taken on another device is told; that it was in another tab needs no telling.
        if (call.to_device === device) this.#host.leave();
        break;
      case "connecting":
        if (call.to === this.#link.me && call.to_device === device) this.#host.step({ type: "accepted", call });
    }
  }
}

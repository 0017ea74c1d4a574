import { Buffer } from "node:buffer";
import type { Call, CallDeed, CallResult, CallSignals, Device } from "#contract/calls/call.ts";
import type { CallAsk } from "#contract/calls/call-commands.ts";
import { revealsAddress } from "#contract/calls/candidates.ts";
import { type ConversationId, otherMember, type Uuid } from "#contract/ids.ts";
import { callGoneMs } from "#contract/limits.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { encodeFrame } from "#contract/wire/server-frames.ts";
import type { CallSignal } from "#worker/objects/rpc.ts";
import { Turns } from "#worker/objects/shared/keyed-mutex.ts";
import { userChannelOf } from "#worker/objects/stubs.ts";
import type { Sockets } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { signalFrame } from "./call-frames.ts";
import { CallLimits } from "./call-rate-limits.ts";
import type { KnownCalls, Passed } from "./call-registry.ts";
import { type Ended, Entering } from "./session-guard.ts";
import { SaidSignals } from "./signal-buffer.ts";

type Host = { env: Env; user: Uuid; sockets: Sockets; later(work: Promise<unknown>): void };
type Asked = CallAsk & { conversation: ConversationId };
type AskOf<T extends CallAsk["type"]> = Extract<Asked, { type: T }>;

const givenUpMax = 100; // calls

/** What the devices of one person do with calls: those that they make, enter and end, and what is said inside them. */
export class PersonCalls {
  readonly #host: Host;
  readonly #known: KnownCalls;
  readonly #turns = new Turns<ConversationId>();
  /** Calls that are being dialled or answered: their conversations have not said yet what comes of it. */
  readonly #claims = new Set<{ conversation: ConversationId; call: Uuid }>();
  /** Calls that were given up before they were known: what dials them came late. */
  readonly #givenUp = new Set<Uuid>();
  /** Calls that ring, dialled by a page that went, and when it did. */
  readonly #forsaken = new Map<Uuid, number>();
  readonly #limits: CallLimits;
  readonly #said = new SaidSignals();
  /** When a device that has no socket last asked what is told in its call. */
  #askedAt = 0;
  readonly #entering = new Entering();

  constructor(sql: SqlStorage, known: KnownCalls, host: Host) {
    this.#host = host;
    this.#known = known;
    this.#limits = new CallLimits(sql, (id) => this.#known.findAnywhere(id) !== undefined);
  }

  /** A signal of the other person's device. */
  pass(from: Uuid, signal: CallSignal): void {
    const { call, conversation, to } = signal;
    if (otherMember(conversation, this.#host.user) !== from || !this.#isMine(conversation, call)) return;
    this.#said.add(signal);
    this.#host.sockets.signalTo(to, signalFrame(signal));
  }

  /** A page of this device went, to be loaded anew or for good: what it dialled rings no longer than it may take to come back. */
  leave(device: Device): void {
    const call = this.#known.findDialled(device);
    if (call) this.#host.later(this.#giveUpLate(call, device));
  }

  async #giveUpLate(call: Call, device: Device): Promise<void> {
    const { call_id: id } = call;
    const leftAt = Date.now();
    this.#forsaken.set(id, leftAt);
    await new Promise((resolve) => setTimeout(resolve, callGoneMs));
    if (this.#forsaken.get(id) !== leftAt) return; // asked about meanwhile, by whatever way, or left once more
    this.#forsaken.delete(id);
    if (!this.#host.sockets.reaches(device, leftAt)) await this.#known.giveUp(call);
  }

  /** The same for a device that asks, after that place; undefined of a call that is not open. */
  findSaid(id: Uuid, after: number): CallSignals | undefined {
    this.#forsaken.delete(id);
    this.#askedAt = Date.now();
    const call = this.#known.findAnywhere(id);
    return call && this.#said.since(call, after);
  }

  /** Whether a device may be on its way back: its socket is there, or a device came just now that has not said which it is. */
  mayCome(device: Device): boolean {
    const lately = Date.now() - callGoneMs;
    return this.#askedAt >= lately || this.#host.sockets.reaches(device, lately);
  }

  /** Sessions of this person ended: so do the calls they are in. */
  async signOut(ended: Ended): Promise<void> {
    this.#entering.signOut(ended);
    await this.#known.signOut(ended);
  }

  async ask(asked: Asked, session?: Uuid): Promise<CallResult | Passed | Refusal> {
    const { conversation, call } = asked;
    this.#forsaken.delete(call);
    const enter = (work: () => Promise<CallResult | Refusal>) =>
      this.#entering.run(
        session,
        () => this.#turns.take(conversation, work),
        async (ended, entered) => (isRefusal(entered) ? entered : this.#known.signOutOf(conversation, ended)),
      );
    switch (asked.type) {
      case "dial":
        return enter(() => this.#dial(asked, session));
      case "answer": {
        const { device } = asked;
        const answer = () => this.#known.do(conversation, { type: "answer", id: call, device }, session);
        return this.#limits.deed() ?? enter(() => this.#claim(conversation, call, answer));
      }
      case "hangUp":
        return this.#limits.deed() ?? this.#turns.take(conversation, () => this.#hangUp(asked));
      case "standing":
        return this.#limits.deed() ?? this.#known.look(conversation, call);
      case "beat":
        return this.#limits.deed() ?? this.#beat(asked);
      case "signal":
        return this.#signal(asked);
      default:
        return asked satisfies never;
    }
  }

  async #dial({ conversation, call, kind, device }: AskOf<"dial">, session?: Uuid): Promise<CallResult | Refusal> {
    if (this.#givenUp.has(call)) return { error: "call_not_found" };
    const isAgain = this.#isMine(conversation, call);
    const refusal = isAgain ? undefined : this.#limits.dial();
    if (refusal) return refusal;
    const deed: CallDeed = { type: "create", id: call, kind, device };
    return this.#claim(conversation, call, () => this.#known.do(conversation, deed, session));
  }

  async #hangUp({ type: _, conversation, call, ...how }: AskOf<"hangUp">): Promise<CallResult | Refusal> {
    const end: CallDeed = { type: "end", id: call, ...how };
    const answer = await this.#known.do(conversation, end);
    if (!isRefusal(answer) || answer.error !== "call_not_found") return answer;
    if (this.#givenUp.size >= givenUpMax) this.#givenUp.clear();
    this.#givenUp.add(call);
    return answer;
  }

  async #beat({ conversation, call, device, unheard }: AskOf<"beat">): Promise<Passed | Refusal> {
    if (!this.#isMine(conversation, call)) return { error: "call_not_found" };
    return this.#known.beat(conversation, call, { device, unheard });
  }

  /**
   * From channel to channel: both look whether there is such a call between the two. Until the callee accepts, nothing
   * leaves that tells the caller the callee's address; an honest client says it again later.
   */
  async #signal({ type: _, ...signal }: AskOf<"signal">): Promise<Passed | Refusal> {
    const { env, user } = this.#host;
    const { conversation, call } = signal;
    const other = otherMember(conversation, user);
    if (other === undefined || !this.#isMine(conversation, call)) return { error: "call_not_found" };
    if (this.#isRungBy(conversation, call) && revealsAddress(signal.signal)) {
      await this.#turns.take(conversation, async () => {}); // an answer may be under way
      if (this.#isRungBy(conversation, call)) return { error: "not_allowed" };
    }
    const isAnswered = typeof this.#known.find(conversation, call)?.answered_at === "number";
    const bytes = Buffer.byteLength(encodeFrame(signalFrame(signal)));
    const refusal = this.#limits.signal(call, isAnswered, bytes);
    if (refusal) return refusal;
    await userChannelOf(env, other).signal(other, user, signal);
    return { passed: true };
  }

  /** Does what brings this person into a call, unless they are in another one or about to be; one that is abandoned ends. */
  async #claim(
    conversation: ConversationId,
    call: Uuid,
    enter: () => Promise<CallResult | Refusal>,
  ): Promise<CallResult | Refusal> {
    for (const other of this.#known.enteredBeside(conversation)) await this.#known.lookAt(other);
    const isElsewhere =
      this.#known.isEngagedBeside(conversation) ||
      [...this.#claims].some((claim) => claim.conversation !== conversation);
    if (isElsewhere) return { error: "call_in_progress" };
    const claim = { conversation, call };
    this.#claims.add(claim);
    try {
      const entered = await enter();
      if (!isRefusal(entered) && !entered.over) this.#known.leaveBeside(conversation);
      return entered;
    } finally {
      this.#claims.delete(claim);
    }
  }

  /** Whether that call rings for this person and none of their devices has accepted it. */
  #isRungBy(conversation: ConversationId, id: Uuid): boolean {
    const call = this.#known.find(conversation, id);
    return call?.answered_at === null && call.to === this.#host.user;
  }

  #isMine(conversation: ConversationId, id: Uuid): boolean {
    if (this.#known.find(conversation, id)) return true;
    return [...this.#claims].some((claim) => claim.conversation === conversation && claim.call === id);
  }
}

import { Buffer } from "node:buffer";
import type { CallAsk } from "../../contract/call-asks";
import { type Call, type CallDeed, type CallResult, type CallSignals, toCall } from "../../contract/calls";
import { isRefusal, type Refusal } from "../../contract/commands";
import { type ConversationId, otherMember, type Uuid } from "../../contract/ids";
import { callAbandonedMs, callRingMs, callSilentMaxMs, callVerdictMs } from "../../contract/limits";
import { encodeFrame } from "../../contract/protocol";
import { logWarning } from "../lib/log";
import { frameOf, signalFrame } from "./call-frames";
import { CallLimits } from "./call-limits";
import type { KeptCall } from "./call-row";
import { CallTable } from "./call-table";
import { type Ended, Entering } from "./entering";
import type { Gate } from "./gate";
import type { CallSignal, CallStanding, ConversationRpc } from "./rpc";
import { SaidSignals } from "./said-signals";
import type { Sockets } from "./sockets";
import { userChannelOf } from "./stubs";
import { Turns } from "./turns";

type Host = { env: Env; user: Uuid; gate: Gate; sockets: Sockets; later(work: Promise<unknown>): void };
type Asked = CallAsk & { conversation: ConversationId };
type AskOf<T extends CallAsk["type"]> = Extract<Asked, { type: T }>;
type Passed = { passed: boolean };

const rememberedMax = 100;

const hasRungOut = ({ answered_at, created_at }: Call, now: number): boolean =>
  answered_at === null && now >= created_at + callRingMs;

/** The calls of one person: what their devices ask, and what they are told. */
export class PersonCalls {
  readonly #host: Host;
  readonly #table: CallTable;
  readonly #turns = new Turns<ConversationId>();
  /** Calls that are being dialled or answered: their conversations have not said yet what comes of it. */
  readonly #claims = new Set<{ conversation: ConversationId; call: Uuid }>();
  /** Calls that were given up before they were known: what dials them came late. */
  readonly #givenUp = new Set<Uuid>();
  /** When the conversations of open calls were last asked about them. */
  readonly #lookedAt = new Map<Uuid, number>();
  /** Calls of a device that seems to be gone: they keep this person from nothing. */
  readonly #abandoned = new Set<Uuid>();
  readonly #limits: CallLimits;
  readonly #said = new SaidSignals();
  readonly #entering = new Entering();

  constructor(sql: SqlStorage, host: Host) {
    this.#host = host;
    this.#table = new CallTable(sql);
    this.#limits = new CallLimits(sql, (id) => this.#table.open.some(({ call_id }) => call_id === id));
  }

  /** What a device that comes is told is under way: nothing that rang out, and nothing that is being answered busy. */
  get current(): Call[] {
    const now = Date.now();
    this.#lookAtDoubtful(now);
    const ringing = this.#ringing(now);
    return this.#table.open.filter((call) => call === ringing || (!this.#isRung(call) && !hasRungOut(call, now)));
  }

  /**
   * Takes in how a conversation's call stands, null for none that this person may know of. Whoever is in a call, calls
   * or is rung already is busy for everybody else, also for whoever rings without their knowing (`held`).
   */
  take(conversation: ConversationId, kept: KeptCall | null, version: number, held?: KeptCall): void {
    if (version === 0) return;
    for (const news of this.#table.take(conversation, kept, version, held)) {
      const { call, over, isHeld } = news;
      if (isHeld) {
        if (!hasRungOut(call, Date.now())) this.#host.later(this.#weigh(call));
        continue;
      }
      if (over) this.#abandoned.delete(call.call_id);
      if (over || !this.#isRung(call)) this.#host.sockets.signal(frameOf(news), true);
      else if (!hasRungOut(call, Date.now())) this.#ring(call);
      if (over || this.#isRung(call)) continue;
      for (const other of [...this.#others(conversation), ...this.#heldOthers(conversation)]) this.#refuse(other);
    }
  }

  /** A signal of the other person's device. */
  pass(from: Uuid, signal: CallSignal): void {
    const { call, conversation, to } = signal;
    if (otherMember(conversation, this.#host.user) !== from || !this.#isMine(conversation, call)) return;
    this.#said.add(signal);
    this.#host.sockets.signalTo(to, signalFrame(signal));
  }

  /** The same for a device that asks, after that place; undefined of a call that is not open. */
  findSaid(id: Uuid, after: number): CallSignals | undefined {
    const call = this.#table.open.find(({ call_id }) => call_id === id);
    return call && this.#said.since(call, after);
  }

  /** Sessions of this person ended: so do the calls they are in. */
  async signOut(ended: Ended): Promise<void> {
    this.#entering.signOut(ended);
    await Promise.all(this.#table.open.map(({ conversation }) => this.#signOutOf(conversation, ended)));
  }

  async ask(asked: Asked, session?: Uuid): Promise<CallResult | Passed | Refusal> {
    const { conversation, call } = asked;
    const enter = (work: () => Promise<CallResult | Refusal>) =>
      this.#entering.run(
        session,
        () => this.#turns.take(conversation, work),
        async (ended, entered) => (isRefusal(entered) ? entered : this.#signOutOf(conversation, ended)),
      );
    switch (asked.type) {
      case "dial":
        return enter(() => this.#dial(asked, session));
      case "answer": {
        const { device } = asked;
        const answer = () => this.#do(conversation, { type: "answer", id: call, device }, session);
        return this.#limits.deed() ?? enter(() => this.#claim(conversation, call, answer));
      }
      case "hangUp":
        return this.#limits.deed() ?? this.#turns.take(conversation, () => this.#hangUp(asked));
      case "standing":
        return this.#limits.deed() ?? this.#look(conversation, call);
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
    return this.#claim(conversation, call, () => this.#do(conversation, deed, session));
  }

  #signOutOf(conversation: ConversationId, ended: Ended): Promise<CallResult | Refusal> {
    const { user } = this.#host;
    return this.#ask(conversation, (stub) => stub.signOut(conversation, user, ended === "all" ? ended : [...ended]));
  }

  async #hangUp({ conversation, call, device, status, reason }: AskOf<"hangUp">): Promise<CallResult | Refusal> {
    const end: CallDeed = { type: "end", id: call, device, status, ...(reason ? { reason } : {}) };
    const answer = await this.#do(conversation, end);
    if (!isRefusal(answer) || answer.error !== "call_not_found") return answer;
    if (this.#givenUp.size >= rememberedMax) this.#givenUp.clear();
    this.#givenUp.add(call);
    return answer;
  }

  async #beat({ conversation, call, device }: AskOf<"beat">): Promise<Passed | Refusal> {
    const { gate, user } = this.#host;
    if (!this.#isMine(conversation, call)) return { error: "call_not_found" };
    const passed = await gate.call<Passed>(conversation, async (stub) => ({
      passed: await stub.beat(conversation, user, call, device),
    }));
    if (isRefusal(passed)) return passed;
    if (passed.passed) {
      this.#abandoned.delete(call);
      return passed;
    }
    await this.#look(conversation, call);
    return { error: "call_not_found" };
  }

  /** From channel to channel: both look whether there is such a call between the two. */
  async #signal({ type: _, ...signal }: AskOf<"signal">): Promise<Passed | Refusal> {
    const { env, user } = this.#host;
    const { conversation, call } = signal;
    const other = otherMember(conversation, user);
    if (other === undefined || !this.#isMine(conversation, call)) return { error: "call_not_found" };
    const isAnswered = typeof this.#table.find(conversation, call)?.answered_at === "number";
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
    for (const other of this.#others(conversation)) if (!this.#isRung(other)) await this.#lookAt(other);
    const isElsewhere =
      this.#others(conversation).some((other) => this.#isEngaged(other)) ||
      [...this.#claims].some((claim) => claim.conversation !== conversation);
    if (isElsewhere) return { error: "call_in_progress" };
    const claim = { conversation, call };
    this.#claims.add(claim);
    try {
      const entered = await enter();
      if (!isRefusal(entered) && !entered.over) {
        for (const other of this.#others(conversation)) if (!this.#isRung(other)) this.#host.later(this.#leave(other));
      }
      return entered;
    } finally {
      this.#claims.delete(claim);
    }
  }

  /** Tells the devices that somebody calls, unless this person is busy: what makes them so may be over by now. */
  #ring(call: Call): void {
    const tell = () => this.#host.sockets.signal(frameOf({ call, over: null }), true);
    const decide = async () => {
      const isBusy = await this.#isBusyBeside(call);
      const isStill = this.#table.find(call.conversation, call.call_id)?.answered_at === null;
      if (isStill && isBusy) await this.#sayBusy(call);
      else if (isStill) tell();
    };
    if (this.#others(call.conversation).length === 0) tell();
    else this.#host.later(decide());
  }

  /** The same for whoever rings without this person's knowing: no device is told, and only their like find them busy by it. */
  async #weigh(call: Call): Promise<void> {
    if (this.#heldOthers(call.conversation).length > 0 || (await this.#isBusyBeside(call))) await this.#sayBusy(call);
  }

  async #isBusyBeside({ conversation }: Call): Promise<boolean> {
    for (const other of this.#others(conversation)) await this.#lookAt(other);
    return this.#others(conversation).some((other) => !this.#abandoned.has(other.call_id));
  }

  /** Somebody rings while this person has begun to talk, or to call, elsewhere. */
  #refuse(call: Call): void {
    if (this.#isRung(call)) this.#host.later(this.#sayBusy(call));
  }

  #sayBusy({ conversation, call_id }: Call): Promise<unknown> {
    const { user } = this.#host;
    return this.#ask(conversation, (stub) => stub.refuse(conversation, user, call_id));
  }

  /** Whoever talks elsewhere has left the call of a device that is gone. */
  async #leave({ conversation, call_id }: Call): Promise<void> {
    if (!this.#abandoned.has(call_id)) return;
    await this.#do(conversation, { type: "end", id: call_id, device: this.#host.user, status: "ended" });
  }

  /** Asks about calls whose end may have been lost, at most once in a while. */
  #lookAtDoubtful(now: number): void {
    for (const call of this.#table.open) {
      const isDoubtful =
        call.answered_at === null
          ? now >= call.created_at + callRingMs + callVerdictMs
          : now >= Math.max(call.answered_at, this.#lookedAt.get(call.call_id) ?? 0) + callSilentMaxMs;
      if (isDoubtful) this.#host.later(this.#lookAtLate(call));
    }
  }

  /** Should it turn out to keep this person from nothing, the devices hear what rings meanwhile. */
  async #lookAtLate(call: Call): Promise<void> {
    const wasEngaged = this.#isEngaged(call);
    await this.#lookAt(call);
    const ringing = this.#ringing();
    if (ringing && wasEngaged) this.#host.sockets.signal(frameOf({ call: ringing, over: null }), true);
  }

  /** What cannot be found out stays as it is. */
  async #lookAt({ conversation, call_id }: Call): Promise<void> {
    await this.#look(conversation, call_id).catch((error: unknown) => logWarning("a call was not found out", error));
  }

  /** Asks a conversation about a call. One that it does not know to be under way is over. */
  async #look(conversation: ConversationId, id: Uuid): Promise<CallResult | Refusal> {
    const { user, sockets } = this.#host;
    if (this.#lookedAt.size >= rememberedMax) this.#lookedAt.clear();
    this.#lookedAt.set(id, Date.now());
    const answer = await this.#ask(conversation, (stub) => stub.standing(conversation, user, id));
    const over = isRefusal(answer) ? null : answer.over;
    const isUnknown = isRefusal(answer) && ["call_not_found", "conversation_not_found"].includes(answer.error);
    if (!over && !isUnknown) return answer;
    for (const news of this.#table.drop(conversation, id, over)) sockets.signal(frameOf(news), true);
    return answer;
  }

  #others(conversation: ConversationId): Call[] {
    return this.#table.open.filter((call) => call.conversation !== conversation);
  }

  /** Those that ring elsewhere without this person's knowing. */
  #heldOthers(conversation: ConversationId): Call[] {
    const now = Date.now();
    return this.#table.held.filter((call) => call.conversation !== conversation && !hasRungOut(call, now));
  }

  /** What rings for this person: one at a time, and nothing while they are in a call. */
  #ringing(now = Date.now()): Call | undefined {
    const open = this.#table.open.filter((call) => !hasRungOut(call, now));
    if (open.some((call) => this.#isEngaged(call))) return undefined;
    const [first] = open.filter((call) => this.#isRung(call)).sort((a, b) => a.created_at - b.created_at);
    return first;
  }

  /** Whether it makes this person busy for others. */
  #isEngaged(call: Call): boolean {
    return !this.#isRung(call) && !this.#abandoned.has(call.call_id);
  }

  /** Whether it rings for this person. */
  #isRung({ answered_at, to }: Call): boolean {
    return answered_at === null && to === this.#host.user;
  }

  #isMine(conversation: ConversationId, id: Uuid): boolean {
    if (this.#table.find(conversation, id)) return true;
    return [...this.#claims].some((claim) => claim.conversation === conversation && claim.call === id);
  }

  #do(conversation: ConversationId, deed: CallDeed, session?: Uuid): Promise<CallResult | Refusal> {
    const { user } = this.#host;
    return this.#ask(conversation, (stub) => stub.call(conversation, user, deed, session));
  }

  async #ask(
    conversation: ConversationId,
    ask: (stub: ConversationRpc) => Promise<CallStanding | Refusal>,
  ): Promise<CallResult | Refusal> {
    const standing = await this.#host.gate.call<CallStanding>(conversation, ask);
    if (isRefusal(standing)) return standing;
    const { call, calls, heardAt } = standing;
    const isAway = call.over === null && call.answeredAt !== null && Date.now() >= heardAt + callAbandonedMs;
    if (isAway) this.#abandoned.add(call.id);
    else this.#abandoned.delete(call.id);
    const isUnknown = call.withheld && toCall(conversation, call).to === this.#host.user;
    this.take(conversation, isUnknown ? null : call, calls);
    return { call: toCall(conversation, call), over: call.over, now: Date.now() };
  }
}

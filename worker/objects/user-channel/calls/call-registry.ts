import { type Call, type CallDeed, type CallResult, type Device, toCall } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { callRingMs, callSilentMaxMs, callVerdictMs } from "#contract/limits.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { logWarning } from "#worker/lib/log.ts";
import type { CallSigns, CallStanding, ConversationRpc } from "#worker/objects/rpc.ts";
import type { KeptCall } from "#worker/objects/shared/call-record.ts";
import type { Gate } from "#worker/objects/user-channel/commands/conversation-gateway.ts";
import type { Sockets } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { frameOf } from "./call-frames.ts";
import { CallTable } from "./call-table.ts";
import type { Ended } from "./session-guard.ts";

/** It went to where it was to go. */
export type Passed = { passed: boolean };

type Host = { user: Uuid; gate: Gate; sockets: Sockets; later(work: Promise<unknown>): void };

const lookedAtMax = 100; // calls

const hasRungOut = ({ answered_at, created_at }: Call, now: number): boolean =>
  answered_at === null && now >= created_at + callRingMs;

/** The calls of one person as their conversations tell of them: how each stands, and what the devices hear of it. */
export class KnownCalls {
  readonly #host: Host;
  readonly #table: CallTable;
  /** When the conversations of open calls were last asked about them. */
  readonly #lookedAt = new Map<Uuid, number>();
  /** Calls of a device that seems to be gone: they keep this person from nothing. */
  readonly #abandoned = new Set<Uuid>();

  constructor(sql: SqlStorage, host: Host) {
    this.#host = host;
    this.#table = new CallTable(sql);
  }

  /** What a device that comes is told is under way: nothing that rang out, and nothing that is being answered busy. */
  get current(): Call[] {
    const now = Date.now();
    this.#lookAtDoubtful(now);
    const ringing = this.#ringing(now);
    return this.#table.open.filter((call) => call === ringing || (!this.#isRung(call) && !hasRungOut(call, now)));
  }

  /** One that is under way, or has rung out and nobody has ended yet. */
  find(conversation: ConversationId, id: Uuid): Call | undefined {
    return this.#table.find(conversation, id);
  }

  /** The same, wherever it is. */
  findAnywhere(id: Uuid): Call | undefined {
    return this.#table.open.find(({ call_id }) => call_id === id);
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

  /** The calls elsewhere that this person makes or is in; those that only ring for them are not among them. */
  enteredBeside(conversation: ConversationId): Call[] {
    return this.#others(conversation).filter((call) => !this.#isRung(call));
  }

  /** Whether any of those makes this person busy. */
  isEngagedBeside(conversation: ConversationId): boolean {
    return this.#others(conversation).some((call) => this.#isEngaged(call));
  }

  /** They are in this one from now on: those of a device that is gone end. */
  leaveBeside(conversation: ConversationId): void {
    for (const other of this.enteredBeside(conversation)) this.#host.later(this.#leave(other));
  }

  /** What cannot be found out stays as it is. */
  async lookAt({ conversation, call_id }: Call): Promise<void> {
    await this.look(conversation, call_id).catch((error: unknown) => logWarning("a call was not found out", error));
  }

  /** Asks a conversation about a call. One that it does not know to be under way is over. */
  async look(conversation: ConversationId, id: Uuid): Promise<CallResult | Refusal> {
    const { user, sockets } = this.#host;
    if (this.#lookedAt.size >= lookedAtMax) this.#lookedAt.clear();
    this.#lookedAt.set(id, Date.now());
    const answer = await this.#ask(conversation, (stub) => stub.standing(conversation, user, id));
    const over = isRefusal(answer) ? null : answer.over;
    const isUnknown = isRefusal(answer) && ["call_not_found", "conversation_not_found"].includes(answer.error);
    if (!over && !isUnknown) return answer;
    for (const news of this.#table.drop(conversation, id, over)) sockets.signal(frameOf(news), true);
    return answer;
  }

  /** A device of this person's is still there. Where the conversation knows of no such side, it is asked how the call stands. */
  async beat(conversation: ConversationId, id: Uuid, signs: CallSigns): Promise<Passed | Refusal> {
    const { gate, user } = this.#host;
    const passed = await gate.call<Passed>(conversation, async (stub) => ({
      passed: await stub.beat(conversation, user, id, signs),
    }));
    if (isRefusal(passed)) return passed;
    if (passed.passed) {
      this.#abandoned.delete(id);
      return passed;
    }
    await this.look(conversation, id);
    return { error: "call_not_found" };
  }

  /** What this person does with a call. */
  do(conversation: ConversationId, deed: CallDeed, session?: Uuid): Promise<CallResult | Refusal> {
    const { user } = this.#host;
    return this.#ask(conversation, (stub) => stub.call(conversation, user, deed, session));
  }

  /** What this device of theirs dialled and nobody answered yet. */
  findDialled(device: Device): Call | undefined {
    const { user } = this.#host;
    return this.#table.open.find((call) => call.from === user && call.from_device === device && !call.answered_at);
  }

  giveUp({ conversation, call_id }: Call): Promise<CallResult | Refusal> {
    const { user } = this.#host;
    return this.#ask(conversation, (stub) => stub.giveUp(conversation, user, call_id));
  }

  /** Sessions of this person ended: so do the calls that they are in by one of them. */
  async signOut(ended: Ended): Promise<void> {
    await Promise.all(this.#table.open.map(({ conversation }) => this.signOutOf(conversation, ended)));
  }

  signOutOf(conversation: ConversationId, ended: Ended): Promise<CallResult | Refusal> {
    const { user } = this.#host;
    return this.#ask(conversation, (stub) => stub.signOut(conversation, user, ended === "all" ? ended : [...ended]));
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
    for (const other of this.#others(conversation)) await this.lookAt(other);
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
    await this.do(conversation, { type: "end", id: call_id, device: this.#host.user, status: "ended" });
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
    await this.lookAt(call);
    const ringing = this.#ringing();
    if (ringing && wasEngaged) this.#host.sockets.signal(frameOf({ call: ringing, over: null }), true);
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

  async #ask(
    conversation: ConversationId,
    ask: (stub: ConversationRpc) => Promise<CallStanding | Refusal>,
  ): Promise<CallResult | Refusal> {
    const standing = await this.#host.gate.call<CallStanding>(conversation, ask);
    if (isRefusal(standing)) return standing;
    const { call, calls, isLeft } = standing;
    if (isLeft) this.#abandoned.add(call.id);
    else this.#abandoned.delete(call.id);
    const isUnknown = call.withheld && toCall(conversation, call).to === this.#host.user;
    this.take(conversation, isUnknown ? null : call, calls);
    return { call: toCall(conversation, call), over: call.over, now: Date.now() };
  }
}

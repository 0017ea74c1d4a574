import { type Call, type CallCommand, type CallResult, type DeviceId, toCall } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { callRingMs, callServerWaitMs, callSilentMaxMs } from "#contract/limits.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { logWarning } from "#worker/lib/log.ts";
import type { CallHeartbeat, CallSnapshot, ConversationRpc } from "#worker/objects/rpc.ts";
import type { CallRecord } from "#worker/objects/shared/call-record.ts";
import type { ConversationGateway } from "#worker/objects/user-channel/commands/conversation-gateway.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { toCallEventFrame } from "./call-frames.ts";
import { CallTable } from "./call-table.ts";
import type { EndedSessions } from "./session-guard.ts";

/** It went to where it was to go. */
export type RelayOutcome = { passed: boolean };

type CallRegistryPorts = {
  user: Uuid;
  gate: ConversationGateway;
  sockets: SocketRegistry;
  later(work: Promise<unknown>): void;
};

const refreshedMax = 100; // calls

const hasRungOut = ({ answered_at, created_at }: Call, now: number): boolean =>
  answered_at === null && now >= created_at + callRingMs;

/** The calls of one person as their conversations tell of them: how each stands, and what the devices hear of it. */
export class CallRegistry {
  readonly #ports: CallRegistryPorts;
  readonly #table: CallTable;
  /** When the conversations of open calls were last asked about them. */
  readonly #refreshedAt = new Map<Uuid, number>();
  /** Calls of a device that seems to be gone: they keep this person from nothing. */
  readonly #abandoned = new Set<Uuid>();

  constructor(sql: SqlStorage, ports: CallRegistryPorts) {
    this.#ports = ports;
    this.#table = new CallTable(sql);
  }

  /** What a device that comes is told is under way: nothing that rang out, and nothing that is being answered busy. */
  get visibleCalls(): Call[] {
    const now = Date.now();
    this.#refreshStale(now);
    const ringing = this.#findRinging(now);
    return this.#table.open.filter(
      (call) => call === ringing || (!this.#isIncomingRing(call) && !hasRungOut(call, now)),
    );
  }

  /** One that is under way, or has rung out and nobody has ended yet. */
  find(conversation: ConversationId, id: Uuid): Call | undefined {
    return this.#table.find(conversation, id);
  }

  /** The same, wherever it is. */
  findById(id: Uuid): Call | undefined {
    return this.#table.open.find(({ call_id }) => call_id === id);
  }

  /**
   * Takes in how a conversation's call stands, null for none that this person may know of. Whoever is in a call, calls
   * or is rung already is busy for everybody else, also for whoever rings without their knowing (`held`).
   */
  applyCallState(
    conversation: ConversationId,
    record: CallRecord | null,
    version: number,
    hiddenCall?: CallRecord,
  ): void {
    if (version === 0) return;
    for (const update of this.#table.applyCallState(conversation, record, version, hiddenCall)) {
      const { call, over, isHidden } = update;
      if (isHidden) {
        if (!hasRungOut(call, Date.now())) this.#ports.later(this.#checkHiddenRing(call));
        continue;
      }
      if (over) this.#abandoned.delete(call.call_id);
      if (over || !this.#isIncomingRing(call)) this.#ports.sockets.broadcast(toCallEventFrame(update), true);
      else if (!hasRungOut(call, Date.now())) this.#ring(call);
      if (over || this.#isIncomingRing(call)) continue;
      for (const other of [...this.#listOthers(conversation), ...this.#listHiddenOthers(conversation)])
        this.#refuseIfRinging(other);
    }
  }

  /** The calls elsewhere that this person makes or is in; those that only ring for them are not among them. */
  listOtherActiveCalls(conversation: ConversationId): Call[] {
    return this.#listOthers(conversation).filter((call) => !this.#isIncomingRing(call));
  }

  /** Whether any of those makes this person busy. */
  isBusyElsewhere(conversation: ConversationId): boolean {
    return this.#listOthers(conversation).some((call) => this.#makesBusy(call));
  }

  /** They are in this one from now on: those of a device that is gone end. */
  leaveOtherCalls(conversation: ConversationId): void {
    for (const other of this.listOtherActiveCalls(conversation)) this.#ports.later(this.#leaveAbandoned(other));
  }

  /** What cannot be found out stays as it is. */
  async tryRefresh({ conversation, call_id }: Call): Promise<void> {
    await this.refresh(conversation, call_id).catch((error: unknown) => logWarning("a call was not found out", error));
  }

  /** Asks a conversation about a call. One that it does not know to be under way is over. */
  async refresh(conversation: ConversationId, id: Uuid): Promise<CallResult | Refusal> {
    const { user, sockets } = this.#ports;
    if (this.#refreshedAt.size >= refreshedMax) this.#refreshedAt.clear();
    this.#refreshedAt.set(id, Date.now());
    const answer = await this.#request(conversation, (stub) => stub.getCallState(conversation, user, id));
    const over = isRefusal(answer) ? null : answer.over;
    const isUnknown = isRefusal(answer) && ["call_not_found", "conversation_not_found"].includes(answer.error);
    if (!over && !isUnknown) return answer;
    for (const update of this.#table.removeCall(conversation, id, over))
      sockets.broadcast(toCallEventFrame(update), true);
    return answer;
  }

  /** A device of this person's is still there. Where the conversation knows of no such side, it is asked how the call stands. */
  async sendHeartbeat(
    conversation: ConversationId,
    id: Uuid,
    heartbeat: CallHeartbeat,
  ): Promise<RelayOutcome | Refusal> {
    const { gate: gateway, user } = this.#ports;
    const outcome = await gateway.call<RelayOutcome>(conversation, async (stub) => ({
      passed: await stub.recordCallHeartbeat(conversation, user, id, heartbeat),
    }));
    if (isRefusal(outcome)) return outcome;
    if (outcome.passed) {
      this.#abandoned.delete(id);
      return outcome;
    }
    await this.refresh(conversation, id);
    return { error: "call_not_found" };
  }

  /** What this person does with a call. */
  runCommand(conversation: ConversationId, command: CallCommand, session?: Uuid): Promise<CallResult | Refusal> {
    const { user } = this.#ports;
    return this.#request(conversation, (stub) => stub.runCallCommand(conversation, user, command, session));
  }

  /** What this device of theirs dialled and nobody answered yet. */
  findDialledBy(device: DeviceId): Call | undefined {
    const { user } = this.#ports;
    return this.#table.open.find((call) => call.from === user && call.from_device === device && !call.answered_at);
  }

  cancelCall({ conversation, call_id }: Call): Promise<CallResult | Refusal> {
    const { user } = this.#ports;
    return this.#request(conversation, (stub) => stub.cancelCall(conversation, user, call_id));
  }

  /** Sessions of this person ended: so do the calls that they are in by one of them. */
  async endSessions(endedSessions: EndedSessions): Promise<void> {
    await Promise.all(this.#table.open.map(({ conversation }) => this.endSessionsIn(conversation, endedSessions)));
  }

  endSessionsIn(conversation: ConversationId, endedSessions: EndedSessions): Promise<CallResult | Refusal> {
    const { user } = this.#ports;
    return this.#request(conversation, (stub) =>
      stub.endCallOfSessions(conversation, user, endedSessions === "all" ? endedSessions : [...endedSessions]),
    );
  }

  /** Tells the devices that somebody calls, unless this person is busy: what makes them so may be over by now. */
  #ring(call: Call): void {
    const ring = () => this.#ports.sockets.broadcast(toCallEventFrame({ call, over: null }), true);
    const decide = async () => {
      const isBusy = await this.#refreshIsBusy(call);
      const isStillRinging = this.#table.find(call.conversation, call.call_id)?.answered_at === null;
      if (isStillRinging && isBusy) await this.#reportBusy(call);
      else if (isStillRinging) ring();
    };
    if (this.#listOthers(call.conversation).length === 0) ring();
    else this.#ports.later(decide());
  }

  /** The same for whoever rings without this person's knowing: no device is told, and only their like find them busy by it. */
  async #checkHiddenRing(call: Call): Promise<void> {
    if (this.#listHiddenOthers(call.conversation).length > 0 || (await this.#refreshIsBusy(call)))
      await this.#reportBusy(call);
  }

  async #refreshIsBusy({ conversation }: Call): Promise<boolean> {
    for (const other of this.#listOthers(conversation)) await this.tryRefresh(other);
    return this.#listOthers(conversation).some((other) => !this.#abandoned.has(other.call_id));
  }

  /** Somebody rings while this person has begun to talk, or to call, elsewhere. */
  #refuseIfRinging(call: Call): void {
    if (this.#isIncomingRing(call)) this.#ports.later(this.#reportBusy(call));
  }

  #reportBusy({ conversation, call_id }: Call): Promise<unknown> {
    const { user } = this.#ports;
    return this.#request(conversation, (stub) => stub.refuseCallAsBusy(conversation, user, call_id));
  }

  /** Whoever talks elsewhere has left the call of a device that is gone. */
  async #leaveAbandoned({ conversation, call_id }: Call): Promise<void> {
    if (!this.#abandoned.has(call_id)) return;
    await this.runCommand(conversation, { type: "end", id: call_id, device: this.#ports.user, status: "ended" });
  }

  /** Asks about calls whose end may have been lost, at most once in a while. */
  #refreshStale(now: number): void {
    for (const call of this.#table.open) {
      const isDoubtful =
        call.answered_at === null
          ? now >= call.created_at + callRingMs + callServerWaitMs
          : now >= Math.max(call.answered_at, this.#refreshedAt.get(call.call_id) ?? 0) + callSilentMaxMs;
      if (isDoubtful) this.#ports.later(this.#refreshAndRing(call));
    }
  }

  /** Should it turn out to keep this person from nothing, the devices hear what rings meanwhile. */
  async #refreshAndRing(call: Call): Promise<void> {
    const wasEngaged = this.#makesBusy(call);
    await this.tryRefresh(call);
    const ringing = this.#findRinging();
    if (ringing && wasEngaged) this.#ports.sockets.broadcast(toCallEventFrame({ call: ringing, over: null }), true);
  }

  #listOthers(conversation: ConversationId): Call[] {
    return this.#table.open.filter((call) => call.conversation !== conversation);
  }

  /** Those that ring elsewhere without this person's knowing. */
  #listHiddenOthers(conversation: ConversationId): Call[] {
    const now = Date.now();
    return this.#table.hidden.filter((call) => call.conversation !== conversation && !hasRungOut(call, now));
  }

  /** What rings for this person: one at a time, and nothing while they are in a call. */
  #findRinging(now = Date.now()): Call | undefined {
    const open = this.#table.open.filter((call) => !hasRungOut(call, now));
    if (open.some((call) => this.#makesBusy(call))) return undefined;
    const [first] = open.filter((call) => this.#isIncomingRing(call)).sort((a, b) => a.created_at - b.created_at);
    return first;
  }

  /** Whether it makes this person busy for others. */
  #makesBusy(call: Call): boolean {
    return !this.#isIncomingRing(call) && !this.#abandoned.has(call.call_id);
  }

  /** Whether it rings for this person. */
  #isIncomingRing({ answered_at, to }: Call): boolean {
    return answered_at === null && to === this.#ports.user;
  }

  async #request(
    conversation: ConversationId,
    run: (stub: ConversationRpc) => Promise<CallSnapshot | Refusal>,
  ): Promise<CallResult | Refusal> {
    const snapshot = await this.#ports.gate.call<CallSnapshot>(conversation, run);
    if (isRefusal(snapshot)) return snapshot;
    const { call, version, isAbandoned } = snapshot;
    if (isAbandoned) this.#abandoned.add(call.id);
    else this.#abandoned.delete(call.id);
    const isUnknown = call.isHiddenFromCallee && toCall(conversation, call).to === this.#ports.user;
    this.applyCallState(conversation, isUnknown ? null : call, version);
    return { call: toCall(conversation, call), over: call.over, now: Date.now() };
  }
}

import { type Call, type CallResult, type DeviceId, getRingEndsAt } from "#contract/calls/call.ts";
import { type CallCommand, toCall } from "#contract/calls/open-call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { callServerWaitMs, callSilentMaxMs } from "#contract/limits/calls.ts";
import { type CommandResults, isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { logWarning } from "#worker/lib/log.ts";
import type { CallHeartbeat, CallSnapshot } from "#worker/objects/rpc/calls.ts";
import type { ConversationRpc } from "#worker/objects/rpc/conversation-rpc.ts";
import type { CallRecord } from "#worker/objects/shared/call-record.ts";
import type { ConversationGateway } from "#worker/objects/user-channel/commands/conversation-gateway.ts";
import type { CallPusher } from "#worker/objects/user-channel/push/call-pusher.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { toCallEventFrame } from "./call-frames.ts";
import { CallTable, type CallUpdate } from "./call-table.ts";
import type { EndedSessions } from "./session-guard.ts";

/** Result of a signal or heartbeat: accepted or refused, without a call state. */
export type RelayOutcome = CommandResults["signal"];

type CallRegistryPorts = {
  user: Uuid;
  gateway: ConversationGateway;
  sockets: SocketRegistry;
  /** Whether calls in this conversation ring on this person's devices. */
  acceptsCalls(conversation: ConversationId): boolean;
  runInBackground(work: Promise<unknown>): void;
  push(): Pick<CallPusher, "handleCallUpdate">;
};

const refreshedMax = 100; // calls

const hasRungOut = (call: Call, now: number): boolean => call.answered_at === null && now >= getRingEndsAt(call);

/**
 * Calls of one person as reported by their conversations. Decides which calls ring on the devices and which are
 * answered as busy.
 */
export class CallRegistry {
  readonly #ports: CallRegistryPorts;
  readonly #table: CallTable;
  /** Time at which the conversations of open calls were last asked about them. */
  readonly #refreshedAt = new Map<Uuid, number>();
  /** Calls whose device seems gone. They do not make this person busy. */
  readonly #staleCalls = new Set<Uuid>();

  constructor(sql: SqlStorage, ports: CallRegistryPorts) {
    this.#ports = ports;
    this.#table = new CallTable(sql);
  }

  /** Open calls for a connecting device, without those that rang out or are being answered as busy. */
  get visibleCalls(): Call[] {
    const now = Date.now();
    this.#refreshStale(now);
    const ringing = this.findRinging(now);
    return this.#table.open.filter(
      (call) => call === ringing || (!this.#isIncomingRing(call) && !hasRungOut(call, now)),
    );
  }

  /** An open call, or one that rang out and is not ended yet. */
  find(conversation: ConversationId, id: Uuid): Call | undefined {
    return this.#table.find(conversation, id);
  }

  /** An open call by its id alone. */
  findById(id: Uuid): Call | undefined {
    return this.#table.open.find(({ call_id }) => call_id === id);
  }

  /**
   * Applies the state of a conversation's call, null for none that this person may know of. A person who is in a call,
   * calling or ringing is busy for all other callers. `hiddenCall`: a call from a blocked person, which is never shown
   * and is answered as busy if this person is busy.
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
        if (!hasRungOut(call, Date.now())) this.#ports.runInBackground(this.#checkHiddenRing(call));
        continue;
      }
      if (over) this.#staleCalls.delete(call.call_id);
      if (over || !this.#isIncomingRing(call)) this.#announce(update);
      else if (!hasRungOut(call, Date.now())) this.#ring(call);
      if (over || this.#isIncomingRing(call)) continue;
      for (const other of [...this.#listOthers(conversation), ...this.#listHiddenOthers(conversation)])
        this.#refuseIfRinging(other);
    }
  }

  /** Other calls that this person dialled or is in, without those that only ring. */
  listOtherActiveCalls(conversation: ConversationId): Call[] {
    return this.#listOthers(conversation).filter((call) => !this.#isIncomingRing(call));
  }

  /** Whether any other call makes this person busy. */
  isBusyElsewhere(conversation: ConversationId): boolean {
    return this.#listOthers(conversation).some((call) => this.#makesBusy(call));
  }

  /** Ends other calls whose device is gone, after this person entered one. */
  leaveOtherCalls(conversation: ConversationId): void {
    for (const other of this.listOtherActiveCalls(conversation))
      this.#ports.runInBackground(this.#leaveStaleCall(other));
  }

  /** Refreshes a call. Its state stays as it is if that fails. */
  async tryRefresh({ conversation, call_id }: Call): Promise<void> {
    await this.refresh(conversation, call_id).catch((error: unknown) => logWarning("refreshing a call failed", error));
  }

  /**
   * Asks a conversation for the state of a call and removes it if it is over or unknown. `isRinging` reports that it
   * rings on a device.
   */
  async refresh(conversation: ConversationId, id: Uuid, isRinging = false): Promise<CallResult | Refusal> {
    const { user } = this.#ports;
    if (this.#refreshedAt.size >= refreshedMax) this.#refreshedAt.clear();
    this.#refreshedAt.set(id, Date.now());
    const answer = await this.#request(conversation, (stub) => stub.getCallState(user, id, isRinging));
    const over = isRefusal(answer) ? null : answer.over;
    const isUnknown = isRefusal(answer) && ["call_not_found", "conversation_not_found"].includes(answer.error);
    if (!over && !isUnknown) return answer;
    for (const update of this.#table.removeCall(conversation, id, over)) this.#announce(update);
    return answer;
  }

  /** Sends a heartbeat. If the conversation does not accept it, the call is refreshed. */
  async sendHeartbeat(
    conversation: ConversationId,
    id: Uuid,
    heartbeat: CallHeartbeat,
  ): Promise<RelayOutcome | Refusal> {
    const { gateway, user } = this.#ports;
    const outcome = await gateway.call<RelayOutcome>(conversation, async (stub) => ({
      passed: await stub.recordCallHeartbeat(user, id, heartbeat),
    }));
    if (isRefusal(outcome)) return outcome;
    if (outcome.passed) {
      this.#staleCalls.delete(id);
      return outcome;
    }
    await this.refresh(conversation, id);
    return { error: "call_not_found" };
  }

  /** Runs a command of this person on a call. */
  runCommand(conversation: ConversationId, command: CallCommand, session?: Uuid): Promise<CallResult | Refusal> {
    const { user } = this.#ports;
    return this.#request(conversation, (stub) => stub.runCallCommand(user, command, session));
  }

  /** The unanswered call dialled by this device. */
  findDialledBy(device: DeviceId): Call | undefined {
    const { user } = this.#ports;
    return this.#table.open.find((call) => call.from === user && call.from_device === device && !call.answered_at);
  }

  cancelCall({ conversation, call_id }: Call): Promise<CallResult | Refusal> {
    const { user } = this.#ports;
    return this.#request(conversation, (stub) => stub.cancelCall(user, call_id));
  }

  /** Ends the calls that these sessions are in. */
  async endSessions(endedSessions: EndedSessions): Promise<void> {
    await Promise.all(this.#table.open.map(({ conversation }) => this.endSessionsIn(conversation, endedSessions)));
  }

  endSessionsIn(conversation: ConversationId, endedSessions: EndedSessions): Promise<CallResult | Refusal> {
    const { user } = this.#ports;
    return this.#request(conversation, (stub) =>
      stub.endCallOfSessions(user, endedSessions === "all" ? endedSessions : [...endedSessions]),
    );
  }

  /** Rings, unless this person is busy or accepts no calls of the caller. Others that may be over are read anew. */
  #ring(call: Call): void {
    const ring = () => this.#announce({ call, over: null });
    const decide = async () => {
      const isBusy = !this.#ports.acceptsCalls(call.conversation) || (await this.#refreshIsBusy(call));
      const isStillRinging = this.#table.find(call.conversation, call.call_id)?.answered_at === null;
      if (isStillRinging && isBusy) await this.#reportBusy(call);
      else if (isStillRinging) ring();
    };
    if (this.#ports.acceptsCalls(call.conversation) && this.#listOthers(call.conversation).length === 0) ring();
    else this.#ports.runInBackground(decide());
  }

  /** Answers a hidden call as busy if this person is in a call, another hidden one rings, or they accept no calls. */
  async #checkHiddenRing(call: Call): Promise<void> {
    const isRefused =
      !this.#ports.acceptsCalls(call.conversation) || this.#listHiddenOthers(call.conversation).length > 0;
    if (isRefused || (await this.#refreshIsBusy(call))) await this.#reportBusy(call);
  }

  async #refreshIsBusy({ conversation }: Call): Promise<boolean> {
    for (const other of this.#listOthers(conversation)) await this.tryRefresh(other);
    return this.#listOthers(conversation).some((other) => !this.#staleCalls.has(other.call_id));
  }

  /** Answers a ringing call as busy because this person entered another one. */
  #refuseIfRinging(call: Call): void {
    if (this.#isIncomingRing(call)) this.#ports.runInBackground(this.#reportBusy(call));
  }

  #reportBusy({ conversation, call_id }: Call): Promise<unknown> {
    const { user } = this.#ports;
    return this.#request(conversation, (stub) => stub.refuseCallAsBusy(user, call_id));
  }

  /** Ends a call whose device is gone, because the person is in another call. */
  async #leaveStaleCall({ conversation, call_id }: Call): Promise<void> {
    if (!this.#staleCalls.has(call_id)) return;
    await this.runCommand(conversation, { type: "end", id: call_id, device: this.#ports.user, status: "ended" });
  }

  /** Refreshes calls whose end may have been lost, at most once every `callSilentMaxMs`. */
  #refreshStale(now: number): void {
    for (const call of this.#table.open) {
      const isDoubtful =
        call.answered_at === null
          ? now >= getRingEndsAt(call) + callServerWaitMs
          : now >= Math.max(call.answered_at, this.#refreshedAt.get(call.call_id) ?? 0) + callSilentMaxMs;
      if (isDoubtful) this.#ports.runInBackground(this.#refreshAndRing(call));
    }
  }

  /** Refreshes a call and rings a waiting one if this call no longer makes the person busy. */
  async #refreshAndRing(call: Call): Promise<void> {
    const wasEngaged = this.#makesBusy(call);
    await this.tryRefresh(call);
    const ringing = this.findRinging();
    if (ringing && wasEngaged) this.#announce({ call: ringing, over: null });
  }

  #listOthers(conversation: ConversationId): Call[] {
    return this.#table.open.filter((call) => call.conversation !== conversation);
  }

  /** Hidden calls that ring in other conversations. */
  #listHiddenOthers(conversation: ConversationId): Call[] {
    const now = Date.now();
    return this.#table.hidden.filter((call) => call.conversation !== conversation && !hasRungOut(call, now));
  }

  /** The one call that rings for this person, of those that they accept; undefined while they are in a call. */
  findRinging(now = Date.now()): Call | undefined {
    const open = this.#table.open.filter((call) => !hasRungOut(call, now));
    if (open.some((call) => this.#makesBusy(call))) return undefined;
    const [first] = open
      .filter((call) => this.#isIncomingRing(call) && this.#ports.acceptsCalls(call.conversation))
      .sort((a, b) => a.created_at - b.created_at);
    return first;
  }

  /** Notifies the devices of a call. */
  #announce(update: CallUpdate): void {
    this.#ports.sockets.broadcast(toCallEventFrame(update), true);
    this.#ports.push().handleCallUpdate(update);
  }

  /** Whether this call makes the person busy. */
  #makesBusy(call: Call): boolean {
    return !this.#isIncomingRing(call) && !this.#staleCalls.has(call.call_id);
  }

  /** Whether this call rings for the person. */
  #isIncomingRing({ answered_at, to }: Call): boolean {
    return answered_at === null && to === this.#ports.user;
  }

  async #request(
    conversation: ConversationId,
    run: (stub: ConversationRpc) => Promise<CallSnapshot | Refusal>,
  ): Promise<CallResult | Refusal> {
    const snapshot = await this.#ports.gateway.call<CallSnapshot>(conversation, run);
    if (isRefusal(snapshot)) return snapshot;
    const { call, version, isStale } = snapshot;
    if (isStale) this.#staleCalls.add(call.id);
    else this.#staleCalls.delete(call.id);
    const isUnknown = call.isHiddenFromCallee && toCall(conversation, call).to === this.#ports.user;
    this.applyCallState(conversation, isUnknown ? null : call, version);
    return { call: toCall(conversation, call), over: call.over, now: Date.now() };
  }
}

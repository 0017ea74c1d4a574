import { Buffer } from "node:buffer";
import { type Call, type CallResult, type CallSignals, type DeviceId, ringSignal } from "#contract/calls/call.ts";
import type { CallRequest } from "#contract/calls/call-commands.ts";
import { revealsAddress } from "#contract/calls/candidates.ts";
import type { CallCommand } from "#contract/calls/open-call.ts";
import { type ConversationId, otherMember, type Uuid } from "#contract/ids.ts";
import { callReconnectMs } from "#contract/limits/calls.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import type { CallSignal } from "#worker/objects/rpc/calls.ts";
import { KeyedMutex } from "#worker/objects/shared/keyed-mutex.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";
import type { CallPusher } from "#worker/objects/user-channel/push/call-pusher.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { toSignalFrame } from "./call-frames.ts";
import { CallRateLimits } from "./call-rate-limits.ts";
import type { CallRegistry, RelayOutcome } from "./call-registry.ts";
import { type EndedSessions, SessionGuard } from "./session-guard.ts";
import { SignalBuffer } from "./signal-buffer.ts";

type CallCommandPorts = {
  env: Env;
  user: Uuid;
  sockets: SocketRegistry;
  runInBackground(work: Promise<unknown>): void;
  push(): Pick<CallPusher, "recordHandler">;
};
type RoutedCallRequest = CallRequest & { conversation: ConversationId };
type CallRequestOf<T extends CallRequest["type"]> = Extract<RoutedCallRequest, { type: T }>;

const cancelledCallsMax = 100;

/** Call commands of one person's devices: dial, answer, end, heartbeat and signals. */
export class CallCommands {
  readonly #ports: CallCommandPorts;
  readonly #registry: CallRegistry;
  readonly #mutex = new KeyedMutex<ConversationId>();
  /** Calls this person is dialling or answering, while the Conversation has not replied yet. They count for "busy". */
  readonly #claims = new Set<{ conversation: ConversationId; call: Uuid }>();
  /** Calls that were cancelled before their dial command arrived. */
  readonly #cancelled = new Set<Uuid>();
  /** Ringing calls whose calling page was closed or reloaded, with the time of that. */
  readonly #orphanedSince = new Map<Uuid, number>();
  readonly #limits: CallRateLimits;
  readonly #recentSignals = new SignalBuffer();
  /** Call of which the conversation was told that it rings on a device. */
  #reportedRing: Uuid | undefined;
  /** Call of which this object told the caller by a signal that it rings, because no device sends one. */
  #relayedRing: Uuid | undefined;
  /** Time at which a device without a socket last polled for signals. */
  #polledAt = 0;
  readonly #sessionGuard = new SessionGuard();

  constructor(sql: SqlStorage, registry: CallRegistry, ports: CallCommandPorts) {
    this.#ports = ports;
    this.#registry = registry;
    this.#limits = new CallRateLimits(sql, (id) => this.#registry.findById(id) !== undefined);
  }

  /** Delivers a signal of the peer's device. */
  deliverSignal(from: Uuid, signal: CallSignal): void {
    const { call, conversation, to } = signal;
    if (otherMember(conversation, this.#ports.user) !== from || !this.#isOwnCall(conversation, call)) return;
    this.#recentSignals.add(signal);
    this.#ports.sockets.sendToDevice(to, toSignalFrame(signal));
  }

  /** Handles a closed or reloading page: its unanswered outgoing call rings only as long as a reload may take. */
  handlePageClosed(device: DeviceId): void {
    const call = this.#registry.findDialledBy(device);
    if (call) this.#ports.runInBackground(this.#cancelUnlessBack(call, device));
  }

  async #cancelUnlessBack(call: Call, device: DeviceId): Promise<void> {
    const { call_id: id } = call;
    const leftAt = Date.now();
    this.#orphanedSince.set(id, leftAt);
    await new Promise((resolve) => setTimeout(resolve, callReconnectMs));
    if (this.#orphanedSince.get(id) !== leftAt) return; // requested again meanwhile, or its page closed again
    this.#orphanedSince.delete(id);
    if (!this.#ports.sockets.isDeviceReachable(device, leftAt)) await this.#registry.cancelCall(call);
  }

  /** Recent signals for a device that polls, after a position. Undefined if the call is not open. */
  findRecentSignals(id: Uuid, after: number): CallSignals | undefined {
    this.#orphanedSince.delete(id);
    this.#polledAt = Date.now();
    const call = this.#registry.findById(id);
    return call && this.#recentSignals.listSince(call, after);
  }

  /** Whether a device may reconnect: it has a socket, or an unidentified device connected recently. */
  mayReconnect(device: DeviceId): boolean {
    const since = Date.now() - callReconnectMs;
    return this.#polledAt >= since || this.#ports.sockets.isDeviceReachable(device, since);
  }

  /** Ends the calls of ended sessions. */
  async endSessions(endedSessions: EndedSessions): Promise<void> {
    this.#sessionGuard.endSessions(endedSessions);
    await this.#registry.endSessions(endedSessions);
  }

  async runCommand(request: RoutedCallRequest, session?: Uuid): Promise<CallResult | RelayOutcome | Refusal> {
    const { conversation, call } = request;
    this.#orphanedSince.delete(call);
    if (request.type === "answer" || request.type === "hangUp") this.#ports.push().recordHandler(call, session);
    const runGuarded = (work: () => Promise<CallResult | Refusal>) =>
      this.#sessionGuard.run(
        session,
        () => this.#mutex.run(conversation, work),
        async (endedSessions, entered) =>
          isRefusal(entered) ? entered : this.#registry.endSessionsIn(conversation, endedSessions),
      );
    switch (request.type) {
      case "dial":
        return runGuarded(() => this.#dial(request, session));
      case "answer": {
        const { device } = request;
        const answer = () => this.#registry.runCommand(conversation, { type: "answer", id: call, device }, session);
        return this.#limits.takeCommand() ?? runGuarded(() => this.#enterCall(conversation, call, answer));
      }
      case "hangUp":
        return this.#limits.takeCommand() ?? this.#mutex.run(conversation, () => this.#hangUp(request));
      case "standing":
        return this.#limits.takeCommand() ?? this.#checkState(conversation, call);
      case "beat":
        return this.#limits.takeCommand() ?? this.#sendHeartbeat(request);
      case "signal":
        return this.#sendSignal(request);
      default:
        return request satisfies never;
    }
  }

  async #dial(
    { conversation, call, kind, device }: CallRequestOf<"dial">,
    session?: Uuid,
  ): Promise<CallResult | Refusal> {
    if (this.#cancelled.has(call)) return { error: "call_not_found" };
    const isAgain = this.#isOwnCall(conversation, call);
    const refusal = isAgain ? undefined : this.#limits.takeDial();
    if (refusal) return refusal;
    const command: CallCommand = { type: "create", id: call, kind, device };
    return this.#enterCall(conversation, call, () => this.#registry.runCommand(conversation, command, session));
  }

  async #hangUp({ type: _, conversation, call, ...details }: CallRequestOf<"hangUp">): Promise<CallResult | Refusal> {
    const command: CallCommand = { type: "end", id: call, ...details };
    const answer = await this.#registry.runCommand(conversation, command);
    if (!isRefusal(answer) || answer.error !== "call_not_found") return answer;
    if (this.#cancelled.size >= cancelledCallsMax) this.#cancelled.clear();
    this.#cancelled.add(call);
    return answer;
  }

  /**
   * Asks for the state of a call. Of a ringing call this reports that it rings on the asking device. The caller learns
   * that by a signal, since a service worker, unlike a page, sends none.
   */
  async #checkState(conversation: ConversationId, call: Uuid): Promise<CallResult | Refusal> {
    const isRinging = this.#isRinging(conversation, call);
    const answer = await this.#registry.refresh(conversation, call, isRinging);
    const isKnown = this.#reportedRing === call || this.#relayedRing === call;
    if (isRinging && !isKnown && !isRefusal(answer) && answer.call.ring === "reported") {
      const { env, user, runInBackground } = this.#ports;
      this.#relayedRing = call;
      const signal: CallSignal = { call, conversation, from: user, to: null, signal: ringSignal };
      runInBackground(getUserChannelStub(env, answer.call.from).deliverSignal(user, signal));
    }
    return answer;
  }

  async #sendHeartbeat({
    conversation,
    call,
    device,
    unheard: peerSilentMs,
  }: CallRequestOf<"beat">): Promise<RelayOutcome | Refusal> {
    if (!this.#isOwnCall(conversation, call)) return { error: "call_not_found" };
    if (this.#isRinging(conversation, call)) return this.#reportRing(conversation, call);
    return this.#registry.sendHeartbeat(conversation, call, { device, peerSilentMs });
  }

  /** Reports once that a call rings on a device. */
  async #reportRing(conversation: ConversationId, call: Uuid): Promise<RelayOutcome | Refusal> {
    if (this.#reportedRing === call) return { passed: true };
    this.#reportedRing = call;
    const outcome = await this.#registry.sendHeartbeat(conversation, call, {});
    if (isRefusal(outcome)) this.#reportedRing = undefined;
    return outcome;
  }

  /**
   * Sends a signal to the peer's channel. Both channels check that such a call exists between the two. Until the callee
   * answers, signals that reveal the callee's address are refused; clients send them again later.
   */
  async #sendSignal({ type: _, ...signal }: CallRequestOf<"signal">): Promise<RelayOutcome | Refusal> {
    const { env, user, runInBackground } = this.#ports;
    const { conversation, call } = signal;
    const other = otherMember(conversation, user);
    if (other === undefined || !this.#isOwnCall(conversation, call)) return { error: "call_not_found" };
    if (this.#isRinging(conversation, call) && revealsAddress(signal.signal)) {
      await this.#mutex.run(conversation, async () => {}); // an answer may be in progress
      if (this.#isRinging(conversation, call)) return { error: "not_allowed" };
    }
    const isAnswered = typeof this.#registry.find(conversation, call)?.answered_at === "number";
    const bytes = Buffer.byteLength(JSON.stringify(toSignalFrame(signal)));
    const refusal = this.#limits.takeSignal(call, isAnswered, bytes);
    if (refusal) return refusal;
    if (this.#isRinging(conversation, call)) runInBackground(this.#reportRing(conversation, call));
    await getUserChannelStub(env, other).deliverSignal(user, signal);
    return { passed: true };
  }

  /** Enters a call unless this person is in another one or about to be. Abandoned calls are ended first. */
  async #enterCall(
    conversation: ConversationId,
    call: Uuid,
    runGuarded: () => Promise<CallResult | Refusal>,
  ): Promise<CallResult | Refusal> {
    for (const other of this.#registry.listOtherActiveCalls(conversation)) await this.#registry.tryRefresh(other);
    const isElsewhere =
      this.#registry.isBusyElsewhere(conversation) ||
      [...this.#claims].some((claim) => claim.conversation !== conversation);
    if (isElsewhere) return { error: "call_in_progress" };
    const claim = { conversation, call };
    this.#claims.add(claim);
    try {
      const entered = await runGuarded();
      if (!isRefusal(entered) && !entered.over) this.#registry.leaveOtherCalls(conversation);
      return entered;
    } finally {
      this.#claims.delete(claim);
    }
  }

  /** Whether the call rings for this person and no device has answered it. */
  #isRinging(conversation: ConversationId, id: Uuid): boolean {
    const call = this.#registry.find(conversation, id);
    return call?.answered_at === null && call.to === this.#ports.user;
  }

  #isOwnCall(conversation: ConversationId, id: Uuid): boolean {
    if (this.#registry.find(conversation, id)) return true;
    return [...this.#claims].some((claim) => claim.conversation === conversation && claim.call === id);
  }
}

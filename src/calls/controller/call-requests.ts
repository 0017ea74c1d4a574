import type { CallSyncPort } from "#calls/link.ts";
import type { Call, CallResult, DeviceId } from "#contract/calls/call.ts";
import type { CallRequest } from "#contract/calls/call-commands.ts";
import type { CallEvent, CallState, LocalCall } from "#contract/calls/call-machine.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { asSyncError, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import type { PendingHangups } from "./pending-hangups.ts";
import { requestOnce, requestWithRetry } from "./request-retry.ts";

type CallStateRequest = Extract<
  CallRequest & { conversation: ConversationId },
  { type: "dial" | "answer" | "standing" }
>;

export type CallRequestPort = {
  state(): CallState;
  step(event: CallEvent): void;
  /** The call of the state, as the server tells it. */
  learn(call: Call): void;
  isOnline(): boolean;
};

const dialTimeoutMs = 15_000; // as long as dialling tries to reach the server
const connectionWaitMs = 3_500; // as long as it looks for a way there that was away before it began
const failedChecksMax = 2;

/** A call with its times by this device's clock. */
export const withLocalTimes = ({ feed }: Pick<CallSyncPort, "feed">, call: Call): Call => {
  const answered_at = call.answered_at === null ? null : feed.toDeviceTime(call.answered_at);
  return { ...call, created_at: feed.toDeviceTime(call.created_at), answered_at };
};

/** What is asked of the server about the call of this tab, and what its answers mean. */
export class CallRequests {
  readonly #sync: CallSyncPort;
  readonly #deviceId: DeviceId;
  readonly #hangups: PendingHangups;
  readonly #port: CallRequestPort;
  #dialing: { id: Uuid; done: Promise<unknown> } | undefined;
  #checking: Uuid | undefined;
  /** How often in a row nobody said how a call that is overdue stands. */
  #failedChecks = 0;

  constructor(link: CallSyncPort, device: DeviceId, ends: PendingHangups, host: CallRequestPort) {
    this.#sync = link;
    this.#deviceId = device;
    this.#hangups = ends;
    this.#port = host;
  }

  dial(call: LocalCall): void {
    this.#failedChecks = 0;
    this.#dialing = { id: call.id, done: this.#dial(call) };
  }

  /** Settles once it is known whether the server has the call. */
  whenDialed(id: Uuid): Promise<unknown> | undefined {
    return this.#dialing?.id === id ? this.#dialing.done : undefined;
  }

  async #dial({ id, conversation, kind }: LocalCall): Promise<void> {
    const { platform, connectionState } = this.#sync;
    const beganAt = platform.now();
    const giveUpAt = beganAt + dialTimeoutMs;
    const isCurrent = () => this.#isInState(id, "outgoing");
    let notBefore = 0;
    const isWanted = () =>
      isCurrent() &&
      notBefore < giveUpAt &&
      platform.now() < giveUpAt &&
      this.#port.isOnline() &&
      (connectionState.get() !== "offline" || platform.now() < beganAt + connectionWaitMs);
    // What is asked meanwhile may hang on for longer.
    let cancel = () => {};
    const unfound = new Promise<never>((_, reject) => {
      cancel = platform.startTimer(
        connectionWaitMs,
        () => connectionState.get() === "offline" && reject(new SyncError("offline")),
      );
    });
    const device = this.#deviceId;
    try {
      const dial = { type: "dial", conversation, call: id, kind, device } as const;
      const ask = () =>
        this.request(dial).catch((error: unknown) => {
          notBefore = platform.now() + (asSyncError(error).retryAfterMs ?? 0);
          throw error;
        });
      if (connectionState.get() === "offline") this.#sync.checkConnection();
      const result = await Promise.race([requestWithRetry(this.#sync, ask, isWanted), unfound]);
      if (isCurrent() && !result.over) {
        this.#port.learn(result.call);
        this.#port.step({ type: "created", call: withLocalTimes(this.#sync, result.call), device });
      }
      this.#publish(result);
    } catch (error) {
      const failure = asSyncError(error);
      // The server may have it all the same.
      if (isRetryableFailure(failure) && failure.code !== "rate_limited" && !this.#hangups.has(id)) {
        this.#hangups.add({ conversation, call: id, device, status: "missed", reason: "failed" });
      }
      if (isCurrent()) this.#port.step({ type: "notCreated", error: toCallError(failure) });
    } finally {
      cancel();
    }
  }

  async answer({ id, conversation }: LocalCall): Promise<void> {
    const isCurrent = () => this.#isInState(id, "connecting");
    const answer = { type: "answer", conversation, call: id, device: this.#deviceId } as const;
    try {
      this.#publish(await requestWithRetry(this.#sync, () => this.request(answer), isCurrent));
    } catch (error) {
      if (isCurrent()) this.#port.step({ type: "notAccepted", error: toCallError(asSyncError(error)) });
    }
  }

  /** How does it stand? Asked where news may have been lost. */
  async checkState(call: LocalCall): Promise<void> {
    const { id, conversation } = call;
    if (this.#checking === id) return;
    this.#checking = id;
    try {
      const result = await requestOnce(this.#sync, () => this.request({ type: "standing", conversation, call: id }));
      this.#checking = undefined;
      this.#failedChecks = 0;
      this.#publish(result);
    } catch (error) {
      this.#checking = undefined;
      this.#onCheckFailed(call, asSyncError(error));
    }
  }

  /** This side is still there, and has heard nothing of the other one since. */
  async sendHeartbeat(call: LocalCall, lostAt?: number): Promise<void> {
    const unheard =
      lostAt === undefined ? {} : { unheard: Math.max(0, Math.round(this.#sync.platform.now() - lostAt)) };
    const { id, conversation } = call;
    const beat = { type: "beat", conversation, call: id, device: this.#deviceId, ...unheard } as const;
    await requestOnce(this.#sync, () => this.#sync.request(beat)).catch((error: unknown) => {
      return isRetryableFailure(asSyncError(error)) ? undefined : this.checkState(call);
    });
  }

  async request(command: CallStateRequest): Promise<CallResult> {
    const { feed, platform } = this.#sync;
    const askedAt = platform.now();
    const result = await this.#sync.request(command);
    feed.setServerTime(result.now, askedAt);
    return result;
  }

  /** Everybody here may know how a call stands. */
  #publish({ call, over }: CallResult): void {
    const { feed } = this.#sync;
    const { call_id, conversation } = call;
    if (over) feed.publish({ event_type: over.status, data: { call_id, conversation, ...over } });
    else feed.publish({ event_type: call.answered_at === null ? "ring" : "answered", data: call });
  }

  #isInState(id: Uuid, ...places: CallState["at"][]): boolean {
    const state = this.#port.state();
    return state.at !== "idle" && state.call.id === id && places.includes(state.at);
  }

  #onCheckFailed({ id, conversation }: LocalCall, failure: SyncError): void {
    const state = this.#port.state();
    if (!this.#isInState(id, "outgoing", "ringing", "connecting", "connected")) return;
    const isWaiting = state.at === "outgoing" || state.at === "ringing";
    if (!isRetryableFailure(failure)) {
      this.#port.step({ type: "over", id, status: isWaiting ? "missed" : "ended", seconds: 0 });
      return;
    }
    if (!isWaiting || this.#sync.platform.now() < state.until || ++this.#failedChecks < failedChecksMax) return;
    // By the server's own rule it is over; should it have been answered in the last moment, it ends by this.
    this.#failedChecks = 0;
    if (state.at === "outgoing")
      this.#hangups.add({ conversation, call: id, device: this.#deviceId, status: "missed" });
    this.#port.step({ type: "over", id, status: "missed", seconds: 0 });
  }
}

const toCallError = ({ code }: SyncError) => (code === "no_room" ? undefined : code);

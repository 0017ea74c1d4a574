import type { CallSyncPort } from "#calls/sync-port.ts";
import type { CallResult, DeviceId } from "#contract/calls/call.ts";
import type { CallRequest } from "#contract/calls/call-commands.ts";
import type { CallState, LocalCall } from "#contract/calls/local-call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { asSyncError, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import { publishCallEnd, withLocalTimes } from "./call-result.ts";
import type { CallStatePort } from "./call-state-port.ts";
import type { PendingHangups } from "./pending-hangups.ts";
import { requestOnce, requestWithRetry } from "./request-retry.ts";

type CallStateRequest = Extract<
  CallRequest & { conversation: ConversationId },
  { type: "dial" | "answer" | "standing" }
>;

const dialTimeoutMs = 15_000; // no further attempt to dial starts after this time
const connectionWaitMs = 3_500; // after this time, dialling fails while there is no connection to the server
const failedChecksMax = 2; // an overdue call ends here after this many failed requests for its state

/** Sends requests about this tab's call to the server and passes the results to the state machine. */
export class CallRequests {
  readonly #sync: CallSyncPort;
  readonly #deviceId: DeviceId;
  readonly #hangups: PendingHangups;
  readonly #port: CallStatePort;
  #dialing: { id: Uuid; done: Promise<unknown> } | undefined;
  #checking: Uuid | undefined;
  /** Number of failed requests for the state of an overdue call since the last successful one. */
  #failedChecks = 0;

  constructor(sync: CallSyncPort, deviceId: DeviceId, hangups: PendingHangups, port: CallStatePort) {
    this.#sync = sync;
    this.#deviceId = deviceId;
    this.#hangups = hangups;
    this.#port = port;
  }

  /** Starts a call on the server. The result arrives as the event `created` or `notCreated`. */
  dial(call: LocalCall): void {
    this.#failedChecks = 0;
    this.#dialing = { id: call.id, done: this.#dial(call) };
  }

  /** Promise that resolves when dialling this call has succeeded or failed. Undefined if this tab did not dial it. */
  whenDialed(id: Uuid): Promise<unknown> | undefined {
    return this.#dialing?.id === id ? this.#dialing.done : undefined;
  }

  async #dial({ id, conversation, kind }: LocalCall): Promise<void> {
    const { platform, connectionState } = this.#sync;
    const startedAt = platform.now();
    const giveUpAt = startedAt + dialTimeoutMs;
    const isCurrent = () => this.#isInState(id, "outgoing");
    let notBefore = 0;
    const shouldRetry = () =>
      isCurrent() &&
      notBefore < giveUpAt &&
      platform.now() < giveUpAt &&
      this.#port.isOnline() &&
      (connectionState.get() !== "offline" || platform.now() < startedAt + connectionWaitMs);
    // Without a connection, dialling fails after `connectionWaitMs`, even if a request is still waiting for its answer.
    let cancel = () => {};
    const noConnection = new Promise<never>((_, reject) => {
      cancel = platform.startTimer(
        connectionWaitMs,
        () => connectionState.get() === "offline" && reject(new SyncError("offline")),
      );
    });
    const device = this.#deviceId;
    try {
      const dial = { type: "dial", conversation, call: id, kind, device } as const;
      const sendDial = () =>
        this.request(dial).catch((error: unknown) => {
          notBefore = platform.now() + (asSyncError(error).retryAfterMs ?? 0);
          throw error;
        });
      if (connectionState.get() === "offline") this.#sync.checkConnection();
      const result = await Promise.race([requestWithRetry(this.#sync, sendDial, shouldRetry), noConnection]);
      if (isCurrent() && !result.over) {
        this.#port.setServerCall(result.call);
        this.#port.dispatch({ type: "created", call: withLocalTimes(this.#sync, result.call), device });
      }
      this.#publish(result);
    } catch (error) {
      const failure = asSyncError(error);
      // The server may have created the call although no answer arrived. In that case this hang-up ends the call.
      if (isRetryableFailure(failure) && failure.code !== "rate_limited" && !this.#hangups.has(id)) {
        this.#hangups.add({ conversation, call: id, device, status: "missed", reason: "failed" });
      }
      if (isCurrent()) this.#port.dispatch({ type: "notCreated", error: toCallError(failure) });
    } finally {
      cancel();
    }
  }

  /** Accepts a ringing call on the server. A refusal arrives as the event `notAccepted`. */
  async answer({ id, conversation }: LocalCall): Promise<void> {
    const isCurrent = () => this.#isInState(id, "connecting");
    const answer = { type: "answer", conversation, call: id, device: this.#deviceId } as const;
    try {
      this.#publish(await requestWithRetry(this.#sync, () => this.request(answer), isCurrent));
    } catch (error) {
      if (isCurrent()) this.#port.dispatch({ type: "notAccepted", error: toCallError(asSyncError(error)) });
    }
  }

  /** Requests the current state of a call from the server. Used when events about the call may have been lost. */
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

  /**
   * Sends a heartbeat: this device is still in the call. `interruptedAt` is the time on this device's clock since which
   * no media have arrived from the other side; undefined while they arrive.
   */
  async sendHeartbeat(call: LocalCall, interruptedAt?: number): Promise<void> {
    const unheard =
      interruptedAt === undefined
        ? {}
        : { unheard: Math.max(0, Math.round(this.#sync.platform.now() - interruptedAt)) };
    const { id, conversation } = call;
    const heartbeat = { type: "beat", conversation, call: id, device: this.#deviceId, ...unheard } as const;
    await requestOnce(this.#sync, () => this.#sync.request(heartbeat)).catch((error: unknown) => {
      return isRetryableFailure(asSyncError(error)) ? undefined : this.checkState(call);
    });
  }

  /** Sends a request once and adjusts the estimate of the server's clock to the answer. */
  async request(command: CallStateRequest): Promise<CallResult> {
    const { feed, platform } = this.#sync;
    const requestedAt = platform.now();
    const result = await this.#sync.request(command);
    feed.setServerTime(result.now, requestedAt);
    return result;
  }

  /** Publishes the state of a call, as returned by the server, to the call feed of this tab. */
  #publish({ call, over }: CallResult): void {
    if (over) publishCallEnd(this.#sync, call, over);
    else this.#sync.feed.publish({ event_type: call.answered_at === null ? "ring" : "answered", data: call });
  }

  #isInState(id: Uuid, ...states: CallState["phase"][]): boolean {
    const state = this.#port.getState();
    return state.phase !== "idle" && state.call.id === id && states.includes(state.phase);
  }

  #onCheckFailed({ id, conversation }: LocalCall, failure: SyncError): void {
    const state = this.#port.getState();
    if (!this.#isInState(id, "outgoing", "ringing", "connecting", "connected")) return;
    const isWaiting = state.phase === "outgoing" || state.phase === "ringing";
    if (!isRetryableFailure(failure)) {
      this.#port.dispatch({ type: "over", id, status: isWaiting ? "missed" : "ended", seconds: 0 });
      return;
    }
    if (!isWaiting || this.#sync.platform.now() < state.until || ++this.#failedChecks < failedChecksMax) return;
    // The server has ended an unanswered call by now. A call that was answered at the last moment ends by this hang-up.
    this.#failedChecks = 0;
    if (state.phase === "outgoing")
      this.#hangups.add({ conversation, call: id, device: this.#deviceId, status: "missed" });
    this.#port.dispatch({ type: "over", id, status: "missed", seconds: 0 });
  }
}

const toCallError = ({ code }: SyncError) => (code === "no_room" ? undefined : code);

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

const dialTimeoutMs = 15_000; // dialling tries this long to reach the server
const connectionWaitMs = 3_500; // dialling fails after this time if there was no connection from the start
const failedChecksMax = 2;

/** Requests to the server about the call of this tab, and the dispatch of their results. */
export class CallRequests {
  readonly #sync: CallSyncPort;
  readonly #deviceId: DeviceId;
  readonly #hangups: PendingHangups;
  readonly #port: CallStatePort;
  #dialing: { id: Uuid; done: Promise<unknown> } | undefined;
  #checking: Uuid | undefined;
  /** Consecutive failed requests for the state of an overdue call. */
  #failedChecks = 0;

  constructor(sync: CallSyncPort, deviceId: DeviceId, hangups: PendingHangups, port: CallStatePort) {
    this.#sync = sync;
    this.#deviceId = deviceId;
    this.#hangups = hangups;
    this.#port = port;
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
    // A request in flight may take longer than the time allowed to find a connection.
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
      // The server may have received the call all the same.
      if (isRetryableFailure(failure) && failure.code !== "rate_limited" && !this.#hangups.has(id)) {
        this.#hangups.add({ conversation, call: id, device, status: "missed", reason: "failed" });
      }
      if (isCurrent()) this.#port.dispatch({ type: "notCreated", error: toCallError(failure) });
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
      if (isCurrent()) this.#port.dispatch({ type: "notAccepted", error: toCallError(asSyncError(error)) });
    }
  }

  /** Requests the state of the call, wherever events may have been lost. */
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

  /** Tells the server that this side is present, and since when it hears nothing of the other one. */
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

  async request(command: CallStateRequest): Promise<CallResult> {
    const { feed, platform } = this.#sync;
    const requestedAt = platform.now();
    const result = await this.#sync.request(command);
    feed.setServerTime(result.now, requestedAt);
    return result;
  }

  /** Publishes the server's answer to the call feed of this tab. */
  #publish({ call, over }: CallResult): void {
    if (over) publishCallEnd(this.#sync, call, over);
    else this.#sync.feed.publish({ event_type: call.answered_at === null ? "ring" : "answered", data: call });
  }

  #isInState(id: Uuid, ...states: CallState["at"][]): boolean {
    const state = this.#port.getState();
    return state.at !== "idle" && state.call.id === id && states.includes(state.at);
  }

  #onCheckFailed({ id, conversation }: LocalCall, failure: SyncError): void {
    const state = this.#port.getState();
    if (!this.#isInState(id, "outgoing", "ringing", "connecting", "connected")) return;
    const isWaiting = state.at === "outgoing" || state.at === "ringing";
    if (!isRetryableFailure(failure)) {
      this.#port.dispatch({ type: "over", id, status: isWaiting ? "missed" : "ended", seconds: 0 });
      return;
    }
    if (!isWaiting || this.#sync.platform.now() < state.until || ++this.#failedChecks < failedChecksMax) return;
    // By the server's own timeout the call is over. If it was answered in the last moment, this ends it.
    this.#failedChecks = 0;
    if (state.at === "outgoing")
      this.#hangups.add({ conversation, call: id, device: this.#deviceId, status: "missed" });
    this.#port.dispatch({ type: "over", id, status: "missed", seconds: 0 });
  }
}

const toCallError = ({ code }: SyncError) => (code === "no_room" ? undefined : code);

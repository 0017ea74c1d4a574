import type { SyncContext } from "#sync/store/sync-context.ts";
import type { HttpPolling } from "./http-polling.ts";
import type { SocketSession } from "./socket-session.ts";

const failuresBeforeHttp = 3; // failed upgrades in a row: something between here and the server breaks WebSockets
const httpSendDelayMs = 3_000; // a message does not wait longer than this for a socket
/**
 * Changes by others do not wait longer than this for a socket: an attempt at one that is only silent takes longer to
 * fail.
 */
const httpPollDelayMs = 10_000;
const reconnectGraceMs = 2_000; // a shorter interruption is not shown

/**
 * Decides, while there is no socket, when HTTP replaces it and when the interruption is shown. A leader starts without
 * a socket.
 */
export class HttpFallback {
  readonly #context: SyncContext;
  readonly #session: SocketSession;
  readonly #polling: HttpPolling;
  readonly #sendPending: () => void;
  /** Number of the current outage; timers of earlier ones are ignored. */
  #outageNumber = 0;
  #isProlonged = false;
  #isPollingSuspended = false;
  #isStopped = false;
  #cancels = new Set<() => void>();

  /** `sendPending` sends unsent messages. */
  constructor(context: SyncContext, session: SocketSession, polling: HttpPolling, sendPending: () => void) {
    this.#context = context;
    this.#session = session;
    this.#polling = polling;
    this.#sendPending = sendPending;
    this.#startOutage();
  }

  /** Whether messages are sent by HTTP. */
  get usesHttp(): boolean {
    if (this.#polling.isActive) return true;
    return !this.#session.isReady && this.#isProlonged;
  }

  /**
   * Whether the server has told by HTTP what changed, so that its logs were compared with the stored ones. Otherwise
   * asks it, and the outbox continues with its answer.
   */
  confirmState(): boolean {
    if (this.#isPollingSuspended) return false;
    if (!this.#polling.isActive) this.#polling.start();
    else if (!this.#polling.hasAnswer) this.#polling.pollNow();
    return this.#polling.hasAnswer;
  }

  /** The socket, or another attempt to open one, ended; `failures` in a row were never welcomed. */
  handleSocketClosed(failures: number): void {
    if (failures === 0) this.#startOutage();
    else this.#startTimer(httpSendDelayMs, this.#sendPending);
    this.#startTimer(reconnectGraceMs, () => {
      const { link } = this.#context;
      if (!this.#session.isReady && !this.#polling.isActive && link.get() === "online") link.set("connecting");
    });
    if (failures >= failuresBeforeHttp) this.#polling.start();
  }

  /** Delays polling on a full device until the socket, which waits for space, is back. */
  suspendPolling(): void {
    this.#isPollingSuspended = true;
  }

  handleWelcome(): void {
    this.#isPollingSuspended = false;
    this.#polling.stop();
    this.#context.link.set("online");
  }

  stop(): void {
    this.#isStopped = true;
    for (const cancel of this.#cancels) cancel();
  }

  #startTimer(ms: number, run: () => void): void {
    const cancel = this.#context.platform.startTimer(ms, () => {
      this.#cancels.delete(cancel);
      if (!this.#isStopped) run();
    });
    this.#cancels.add(cancel);
  }

  /** Relies on timers only: the device's clock may be set meanwhile. */
  #startOutage(): void {
    const outage = ++this.#outageNumber;
    this.#isProlonged = false;
    this.#startTimer(httpSendDelayMs, () => {
      if (outage === this.#outageNumber) this.#isProlonged = true;
      this.#sendPending();
    });
    this.#startTimer(httpPollDelayMs, () => {
      if (!this.#session.isReady && this.#outageNumber === outage && !this.#isPollingSuspended) this.#polling.start();
    });
  }
}

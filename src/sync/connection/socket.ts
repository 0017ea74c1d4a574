import ReconnectingWebSocket from "partysocket/ws";
import { activeRetryMaxMs } from "#contract/limits/delivery.ts";
import { pingHiddenMs, pingVisibleMs, pongTimeoutMs, probeAfterActivityMs } from "#contract/limits/sockets.ts";
import { closeCodes, finalCloseCodes, parsePong, pingFrame } from "#contract/wire/server-frames.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import type { Platform } from "#sync/platform/platform.ts";

export type SocketEvents = {
  onOpen(): void;
  onMessage(text: string): void;
  /** The server's current inbox counter, from a pong. */
  onPong(counter: number): void;
  /** The socket, or the attempt to open one, ended; `failures` in a row were never welcomed. */
  onClosed(failures: number): void;
  /** The server refused the session; resolves true if another attempt makes sense. */
  onSessionRefused(): Promise<boolean>;
  /** The protocol versions of this app and the server do not match. */
  onOutdated(): void;
};

/** A socket welcomed for this long resets the back-off: its end is the fault of the network, not of the server. */
const backoffResetMs = 2_000;
const outdatedRetryMs = 10 * 60_000;
const wakePongTimeoutMs = 3_500; // after resuming, a dead socket is likely and the person is waiting
const replacedRetryMs = 30_000; // closed in favour of other sockets: reconnecting at once would push those out

/**
 * WebSocket that reconnects by itself. partysocket opens and times out single attempts; the time of the next one is
 * decided here, since its own first retry comes at once and without jitter.
 */
export class ReconnectingSocket {
  readonly #platform: Platform;
  readonly #events: SocketEvents;
  readonly #socket: ReconnectingWebSocket;
  #isStopped = false;
  #isOpen = false;
  #isWelcomed = false;
  #isConnecting = true;
  /** The last attempt reached an open socket. */
  #hasOpened = false;
  #retryAttempt = 0;
  #failures = 0;
  #cancelRetry = () => {};
  #cancelPing = () => {};
  #cancelPongTimeout = () => {};
  #cancelBackoffReset = () => {};
  #pingAt = Number.POSITIVE_INFINITY;
  #isAwaitingPong = false;
  #wasOffline = false;
  /** The server has set the time of the next attempt, which nothing shortens. */
  #isRateLimited = false;

  constructor(platform: Platform, events: SocketEvents) {
    this.#platform = platform;
    this.#events = events;
    const url = async () => {
      await platform.session.renewIfExpiring();
      return platform.socketUrl;
    };
    this.#socket = new ReconnectingWebSocket(url, [], {
      WebSocket: platform.WebSocket,
      connectionTimeout: platform.connectTimeoutMs,
      maxEnqueuedMessages: 0,
      maxRetries: 0,
    });
    this.#socket.onopen = () => this.#onOpen();
    this.#socket.onmessage = ({ data }: MessageEvent<unknown>) => this.#onMessage(data);
    this.#socket.onclose = ({ code, reason }) => this.#handleEnd(code, reason);
    this.#socket.onerror = () => this.#handleEnd(undefined);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  send(text: string): boolean {
    if (!this.#isOpen || !this.#socket.send(text)) return false;
    this.#schedulePing(probeAfterActivityMs);
    return true;
  }

  /** Records that the server answered over this socket. A proxy may let sockets open and still transfer nothing. */
  confirmWelcome(): void {
    if (!this.#isOpen || this.#isWelcomed) return;
    this.#isWelcomed = true;
    this.#failures = 0;
    this.#cancelBackoffReset = this.#platform.startTimer(backoffResetMs, () => {
      this.#retryAttempt = 0;
    });
  }

  /** Sends a ping now. */
  probe(timeoutMs = pongTimeoutMs): void {
    if (this.#isOpen) this.#sendPing(timeoutMs);
  }

  /** The device resumed: reconnects or probes the socket at once. */
  wake(): void {
    if (this.#isStopped) return;
    this.#retryAttempt = 0;
    const wasOffline = this.#wasOffline;
    this.#wasOffline = !this.#platform.isOnline();
    if (!this.#isOpen) {
      if (!this.#isConnecting && !this.#isRateLimited) this.#connect();
    } else if (wasOffline && !this.#wasOffline) {
      this.restart(); // its address belonged to the lost network
    } else {
      this.probe(wakePongTimeoutMs);
    }
  }

  /**
   * Closes this socket and opens another after `afterMs`. With 0 it opens at once, or after the back-off if the closed
   * one was never welcomed.
   */
  restart(afterMs = 0): void {
    if (this.#isStopped || this.#isRateLimited || (this.#isConnecting && afterMs === 0)) return;
    const wasUnwelcomed = this.#isOpen && !this.#isWelcomed;
    this.#endSocket();
    if (afterMs === 0 && !wasUnwelcomed) {
      this.#connect();
    } else {
      this.#socket.close();
      if (afterMs > 0) this.#connectAfter(afterMs);
      else this.#scheduleRetry();
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#endSocket();
    this.#cancelRetry();
    this.#socket.close();
  }

  #connect(): void {
    this.#cancelRetry();
    // Reports the end of the previous socket, which is known already, while no attempt is in progress.
    this.#socket.reconnect();
    this.#isConnecting = true;
    this.#hasOpened = false;
  }

  #onOpen(): void {
    if (this.#isStopped) return;
    this.#isConnecting = false;
    this.#isOpen = true;
    this.#hasOpened = true;
    this.#schedulePing(probeAfterActivityMs);
    this.#events.onOpen();
  }

  #onMessage(data: unknown): void {
    if (!this.#isOpen || typeof data !== "string") return;
    // Any message proves that the socket is alive.
    this.#isAwaitingPong = false;
    this.#cancelPongTimeout();
    const counter = parsePong(data);
    this.#pingAt = Number.POSITIVE_INFINITY;
    if (counter === undefined) {
      this.#schedulePing(probeAfterActivityMs);
      this.#events.onMessage(data);
    } else {
      this.#schedulePing(this.#platform.isVisible() ? pingVisibleMs : pingHiddenMs);
      this.#events.onPong(counter);
    }
  }

  #schedulePing(ms: number): void {
    const at = this.#platform.now() + ms;
    if (at >= this.#pingAt || this.#isAwaitingPong) return;
    this.#cancelPing();
    this.#pingAt = at;
    this.#cancelPing = this.#platform.startTimer(ms, () => this.#sendPing());
  }

  #sendPing(timeoutMs = pongTimeoutMs): void {
    this.#cancelPing();
    this.#pingAt = Number.POSITIVE_INFINITY;
    if (!this.#isOpen || this.#isAwaitingPong) return;
    this.#isAwaitingPong = true;
    this.#cancelPongTimeout = this.#platform.startTimer(timeoutMs, () => this.restart());
    this.#socket.send(pingFrame);
  }

  /** Resets the state of the current socket and reports its end. */
  #endSocket(): void {
    const wasAlive = this.#isOpen || this.#isConnecting;
    if (wasAlive && !this.#isWelcomed) this.#failures++;
    this.#isOpen = false;
    this.#isWelcomed = false;
    this.#isConnecting = false;
    this.#isAwaitingPong = false;
    this.#pingAt = Number.POSITIVE_INFINITY;
    this.#cancelPing();
    this.#cancelPongTimeout();
    this.#cancelBackoffReset();
    if (wasAlive && !this.#isStopped) this.#events.onClosed(this.#failures);
  }

  /** partysocket reports one end twice, as a close and as an error. */
  #handleEnd(code: number | undefined, reason?: string): void {
    if (this.#isStopped || !(this.#isOpen || this.#isConnecting)) return;
    this.#endSocket();
    if (code === closeCodes.signedOut) void this.#checkSession();
    else if (code !== undefined && finalCloseCodes.includes(code)) {
      this.#events.onOutdated();
      this.#connectAfter(outdatedRetryMs);
    } else if (code === closeCodes.replaced) this.#connectAfter(replacedRetryMs);
    else if (code === closeCodes.rateLimited && Number(reason) > 0) {
      this.#isRateLimited = true;
      this.#connectAfter(Number(reason));
    } else this.#scheduleRetry();
  }

  async #checkSession(): Promise<void> {
    const canRetry = await this.#events.onSessionRefused().catch(() => true);
    if (canRetry) this.#scheduleRetry();
    else this.stop();
  }

  /**
   * Schedules the next attempt with back-off. While a person uses the page the delay stays short, unless the last
   * socket opened and was dropped: such a server gets growing pauses.
   */
  #scheduleRetry(): void {
    const { isUserActive, random } = this.#platform;
    const isPersonWaiting = !this.#hasOpened && isUserActive();
    this.#connectAfter(retryDelayMs(this.#retryAttempt++, random, isPersonWaiting ? { maxMs: activeRetryMaxMs } : {}));
  }

  #connectAfter(ms: number): void {
    this.#cancelRetry();
    if (this.#isStopped) return;
    this.#cancelRetry = this.#platform.startTimer(ms, () => {
      this.#isRateLimited = false;
      if (!this.#isConnecting && !this.#isOpen) this.#connect();
    });
  }
}

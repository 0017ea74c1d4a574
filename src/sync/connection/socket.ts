import ReconnectingWebSocket from "partysocket/ws";
import {
  activeRetryMaxMs,
  pingHiddenMs,
  pingVisibleMs,
  pongTimeoutMs,
  probeAfterActivityMs,
} from "#contract/limits.ts";
import { closeCodes, finalCloseCodes, parsePong, pingFrame } from "#contract/wire/server-frames.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import type { Platform } from "#sync/platform/platform.ts";

export type SocketEvents = {
  onOpen(): void;
  onMessage(text: string): void;
  /** The person's counter as the server has it now. */
  onPong(counter: number): void;
  /** The socket, or the attempt to open one, ended; `failures` in a row were never welcomed. */
  onClosed(failures: number): void;
  /** The session is not valid for it; resolves true when it is worth another try. */
  onSessionRefused(): Promise<boolean>;
  /** This version of the app and the server do not understand each other. */
  onOutdated(): void;
};

const backoffResetMs = 2_000; // a server that carried a welcomed socket this long is well: what ended it was the link, and back-off starts anew
const outdatedRetryMs = 10 * 60_000;
const wakePongTimeoutMs = 3_500; // coming back, a dead socket is likely and a person is waiting
const replacedRetryMs = 30_000; // closed to make place for other sockets: coming back at once would push those out

/**
 * One socket that is there whenever it can be. partysocket opens and times out single attempts; when the next
 * one is due is decided here, since its own first retry comes at once and without jitter.
 */
export class ReconnectingSocket {
  readonly #platform: Platform;
  readonly #events: SocketEvents;
  readonly #socket: ReconnectingWebSocket;
  #isStopped = false;
  #isOpen = false;
  #isWelcomed = false;
  #isConnecting = true;
  /** The last attempt came as far as an open socket. */
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
  /** The server has said how long to wait: nothing hurries that. */
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

  /** The server has answered over it: only now has it been of use. What lets sockets open may still carry nothing. */
  confirmWelcome(): void {
    if (!this.#isOpen || this.#isWelcomed) return;
    this.#isWelcomed = true;
    this.#failures = 0;
    this.#cancelBackoffReset = this.#platform.startTimer(backoffResetMs, () => {
      this.#retryAttempt = 0;
    });
  }

  /** Asks for a sign of life now. */
  probe(timeoutMs = pongTimeoutMs): void {
    if (this.#isOpen) this.#sendPing(timeoutMs);
  }

  /** The phone came back: whatever was waited for is tried now. */
  wake(): void {
    if (this.#isStopped) return;
    this.#retryAttempt = 0;
    const wasOffline = this.#wasOffline;
    this.#wasOffline = !this.#platform.isOnline();
    if (!this.#isOpen) {
      if (!this.#isConnecting && !this.#isRateLimited) this.#connect();
    } else if (wasOffline && !this.#wasOffline) {
      this.restart(); // it had an address of the network that went
    } else {
      this.probe(wakePongTimeoutMs);
    }
  }

  /** Ends this socket and opens another: after a while, or at once where the one before it was of use. */
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
    // Tells the end of the socket before it, which is known already, while nothing is under way.
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
    // Whatever arrives is a sign of life.
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

  /** What belonged to the socket that was; the events of the next attempt tell the rest. */
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

  /** partysocket tells one end twice, as a close and as an error. */
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
    const isWorthTrying = await this.#events.onSessionRefused().catch(() => true);
    if (isWorthTrying) this.#scheduleRetry();
    else this.stop();
  }

  /** Somebody who waits is not kept waiting for a link; a server that opens sockets and drops them is left alone longer and longer. */
  #scheduleRetry(): void {
    const { isUserActive, random } = this.#platform;
    const isSoon = !this.#hasOpened && isUserActive();
    this.#connectAfter(retryDelayMs(this.#retryAttempt++, random, isSoon ? { maxMs: activeRetryMaxMs } : {}));
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

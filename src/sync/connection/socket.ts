import ReconnectingWebSocket from "partysocket/ws";
import { pingHiddenMs, pingVisibleMs, pongTimeoutMs, probeAfterActivityMs, usedRetryMaxMs } from "#contract/limits.ts";
import { closeCodes, finalCloseCodes, pingFrame, readPong } from "#contract/wire/server-frames.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import type { Platform } from "#sync/platform/platform.ts";

export type SocketEvents = {
  opened(): void;
  received(text: string): void;
  /** The person's counter as the server has it now. */
  counted(counter: number): void;
  /** The socket, or the attempt to open one, ended; `failures` in a row were never welcomed. */
  ended(failures: number): void;
  /** The session is not valid for it; resolves true when it is worth another try. */
  refused(): Promise<boolean>;
  /** This version of the app and the server do not understand each other. */
  outdated(): void;
};

const healthyMs = 2_000; // a server that carried a welcomed socket this long is well: what ended it was the link, and back-off starts anew
const outdatedRetryMs = 10 * 60_000;
const wakePongTimeoutMs = 3_500; // coming back, a dead socket is likely and a person is waiting
const crowdedRetryMs = 30_000; // closed to make place for other sockets: coming back at once would push those out

/**
 * One socket that is there whenever it can be. partysocket opens and times out single attempts; when the next
 * one is due is decided here, since its own first retry comes at once and without jitter.
 */
export class Socket {
  readonly #platform: Platform;
  readonly #events: SocketEvents;
  readonly #socket: ReconnectingWebSocket;
  #isStopped = false;
  #isOpen = false;
  #isWelcomed = false;
  #isTrying = true;
  /** The last attempt came as far as an open socket. */
  #hasOpened = false;
  #attempt = 0;
  #failures = 0;
  #cancelRetry = () => {};
  #cancelPing = () => {};
  #cancelDeadline = () => {};
  #cancelHealthy = () => {};
  #pingAt = Number.POSITIVE_INFINITY;
  #isAwaitingPong = false;
  #wasOffline = false;
  /** The server has said how long to wait: nothing hurries that. */
  #isLimited = false;

  constructor(platform: Platform, events: SocketEvents) {
    this.#platform = platform;
    this.#events = events;
    const url = async () => {
      await platform.session.prepare();
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
    this.#socket.onclose = ({ code, reason }) => this.#onEnd(code, reason);
    this.#socket.onerror = () => this.#onEnd(undefined);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  send(text: string): boolean {
    if (!this.#isOpen || !this.#socket.send(text)) return false;
    this.#pingWithin(probeAfterActivityMs);
    return true;
  }

  /** The server has answered over it: only now has it been of use. What lets sockets open may still carry nothing. */
  welcomed(): void {
    if (!this.#isOpen || this.#isWelcomed) return;
    this.#isWelcomed = true;
    this.#failures = 0;
    this.#cancelHealthy = this.#platform.after(healthyMs, () => {
      this.#attempt = 0;
    });
  }

  /** Asks for a sign of life now. */
  probe(timeoutMs = pongTimeoutMs): void {
    if (this.#isOpen) this.#ping(timeoutMs);
  }

  /** The phone came back: whatever was waited for is tried now. */
  wake(): void {
    if (this.#isStopped) return;
    this.#attempt = 0;
    const wasOffline = this.#wasOffline;
    this.#wasOffline = !this.#platform.isOnline();
    if (!this.#isOpen) {
      if (!this.#isTrying && !this.#isLimited) this.#connect();
    } else if (wasOffline && !this.#wasOffline) {
      this.restart(); // it had an address of the network that went
    } else {
      this.probe(wakePongTimeoutMs);
    }
  }

  /** Ends this socket and opens another: after a while, or at once where the one before it was of use. */
  restart(afterMs = 0): void {
    if (this.#isStopped || this.#isLimited || (this.#isTrying && afterMs === 0)) return;
    const wasUnwelcomed = this.#isOpen && !this.#isWelcomed;
    this.#end();
    if (afterMs === 0 && !wasUnwelcomed) {
      this.#connect();
    } else {
      this.#socket.close();
      if (afterMs > 0) this.#retryAfter(afterMs);
      else this.#retry();
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#end();
    this.#cancelRetry();
    this.#socket.close();
  }

  #connect(): void {
    this.#cancelRetry();
    // Tells the end of the socket before it, which is known already, while nothing is under way.
    this.#socket.reconnect();
    this.#isTrying = true;
    this.#hasOpened = false;
  }

  #onOpen(): void {
    if (this.#isStopped) return;
    this.#isTrying = false;
    this.#isOpen = true;
    this.#hasOpened = true;
    this.#pingWithin(probeAfterActivityMs);
    this.#events.opened();
  }

  #onMessage(data: unknown): void {
    if (!this.#isOpen || typeof data !== "string") return;
    // Whatever arrives is a sign of life.
    this.#isAwaitingPong = false;
    this.#cancelDeadline();
    const counter = readPong(data);
    this.#pingAt = Number.POSITIVE_INFINITY;
    if (counter === undefined) {
      this.#pingWithin(probeAfterActivityMs);
      this.#events.received(data);
    } else {
      this.#pingWithin(this.#platform.isVisible() ? pingVisibleMs : pingHiddenMs);
      this.#events.counted(counter);
    }
  }

  #pingWithin(ms: number): void {
    const at = this.#platform.now() + ms;
    if (at >= this.#pingAt || this.#isAwaitingPong) return;
    this.#cancelPing();
    this.#pingAt = at;
    this.#cancelPing = this.#platform.after(ms, () => this.#ping());
  }

  #ping(timeoutMs = pongTimeoutMs): void {
    this.#cancelPing();
    this.#pingAt = Number.POSITIVE_INFINITY;
    if (!this.#isOpen || this.#isAwaitingPong) return;
    this.#isAwaitingPong = true;
    this.#cancelDeadline = this.#platform.after(timeoutMs, () => this.restart());
    this.#socket.send(pingFrame);
  }

  /** What belonged to the socket that was; the events of the next attempt tell the rest. */
  #end(): void {
    const wasAlive = this.#isOpen || this.#isTrying;
    if (wasAlive && !this.#isWelcomed) this.#failures++;
    this.#isOpen = false;
    this.#isWelcomed = false;
    this.#isTrying = false;
    this.#isAwaitingPong = false;
    this.#pingAt = Number.POSITIVE_INFINITY;
    this.#cancelPing();
    this.#cancelDeadline();
    this.#cancelHealthy();
    if (wasAlive && !this.#isStopped) this.#events.ended(this.#failures);
  }

  /** partysocket tells one end twice, as a close and as an error. */
  #onEnd(code: number | undefined, reason?: string): void {
    if (this.#isStopped || !(this.#isOpen || this.#isTrying)) return;
    this.#end();
    if (code === closeCodes.signedOut) void this.#askSession();
    else if (code !== undefined && finalCloseCodes.includes(code)) {
      this.#events.outdated();
      this.#retryAfter(outdatedRetryMs);
    } else if (code === closeCodes.replaced) this.#retryAfter(crowdedRetryMs);
    else if (code === closeCodes.rateLimited && Number(reason) > 0) {
      this.#isLimited = true;
      this.#retryAfter(Number(reason));
    } else this.#retry();
  }

  async #askSession(): Promise<void> {
    const isWorthTrying = await this.#events.refused().catch(() => true);
    if (isWorthTrying) this.#retry();
    else this.stop();
  }

  /** Somebody who waits is not kept waiting for a link; a server that opens sockets and drops them is left alone longer and longer. */
  #retry(): void {
    const { isUsed, random } = this.#platform;
    const isSoon = !this.#hasOpened && isUsed();
    this.#retryAfter(retryDelayMs(this.#attempt++, random, isSoon ? { maxMs: usedRetryMaxMs } : {}));
  }

  #retryAfter(ms: number): void {
    this.#cancelRetry();
    if (this.#isStopped) return;
    this.#cancelRetry = this.#platform.after(ms, () => {
      this.#isLimited = false;
      if (!this.#isTrying && !this.#isOpen) this.#connect();
    });
  }
}

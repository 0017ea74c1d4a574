import {
  closedMessagesMax,
  floodPauseMs,
  refusedMessagesBurst,
  refusedMessagesPerSecond,
  socketTokensBurst,
  socketTokensPerSecond,
  userTokensBurst,
  userTokensPerSecond,
} from "#contract/limits.ts";
import { listUnreadRefs } from "#contract/wire/client-frames.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import { closeCodes, encodeFrame, toRefusalFrame } from "#contract/wire/server-frames.ts";
import { logWarning } from "#worker/lib/log.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import { costOfLength } from "./frame-costs.ts";

const floodKey = "flood";
const refusalLastsMs = 1_000;

type FrameLimitPorts = {
  /** How many times as much as in production. */
  factor: number;
  meta: KeyValues;
  /** Whether a socket has yet to say hello. */
  isAwaitingHello(socket: WebSocket): boolean;
  /** Ends all sockets at once, whatever else this object has under way. */
  abortSockets(): void;
};

/**
 * How much one person's devices may ask for: a bucket for each socket, so that one device leaves the others room, and one
 * for the person, which the commands that come by HTTP take from too. What was asked for is paid once it is read, also
 * into debt; over the limit a message is refused before it is read. The buckets refill in about the time after which the
 * platform puts the object to sleep, so that sleep forgives next to nothing.
 */
export class FrameLimits {
  readonly #ports: FrameLimitPorts;
  readonly #socketBuckets = new WeakMap<WebSocket, TokenBucket>();
  /** Until when sockets that were refused something are refused everything. */
  readonly #refusedUntil = new WeakMap<WebSocket, number>();
  readonly #userBucket: TokenBucket;
  readonly #refusalBucket: TokenBucket;
  #closedMessages = 0;
  /** When this person's sockets were last cut off. */
  #floodedAt: number;

  constructor(ports: FrameLimitPorts) {
    this.#ports = ports;
    this.#floodedAt = Number(ports.meta.get(floodKey) ?? 0);
    const initialLevel = this.#floodedAt > 0 ? { tokens: 0, at: this.#floodedAt } : undefined;
    this.#userBucket = new TokenBucket(
      userTokensBurst * ports.factor,
      userTokensPerSecond * ports.factor,
      initialLevel,
    );
    this.#refusalBucket = new TokenBucket(refusedMessagesBurst, refusedMessagesPerSecond, initialLevel);
  }

  /** How long no socket of this person is opened. */
  get pauseMs(): number {
    const leftMs = this.#floodedAt + floodPauseMs - Date.now();
    return leftMs > floodPauseMs ? 0 : Math.max(0, leftMs); // more than it began with: the clock was set back
  }

  /** Whether a message of a socket is to be read. Not when the socket is closed already, by whichever side. */
  admitMessage(socket: WebSocket, message: string | ArrayBuffer): boolean {
    if (socket.readyState !== WebSocket.READY_STATE_OPEN) {
      this.#countClosedMessage();
      return false;
    }
    const now = Date.now();
    const waitMs = this.#waitMs(socket, now);
    if (waitMs > 0) {
      this.#refuseMessage(socket, message, waitMs);
      return false;
    }
    this.charge(socket, costOfLength(typeof message === "string" ? message.length : message.byteLength));
    return true;
  }

  /** What a socket's frames cost besides their length. */
  charge(socket: WebSocket, tokens: number): void {
    this.#bucketOf(socket).spend(tokens);
    this.#userBucket.spend(tokens);
  }

  /** A command by HTTP: the same person's tokens. */
  takeTokens(tokens: number): Refusal | undefined {
    const waitMs = this.#userBucket.waitMs();
    if (waitMs > 0) return { error: "rate_limited", retryAfterMs: waitMs };
    this.#userBucket.spend(tokens);
    return undefined;
  }

  /** One refusal leads to others for a moment, so that no message overtakes the one its device wrote before it. */
  #waitMs(socket: WebSocket, now: number): number {
    const leftMs = Math.min(refusalLastsMs, (this.#refusedUntil.get(socket) ?? 0) - now);
    const waitMs = Math.max(this.#bucketOf(socket).waitMs(now), this.#userBucket.waitMs(now));
    if (leftMs > 0) return Math.max(leftMs, waitMs);
    if (waitMs === 0) return 0;
    this.#refusedUntil.set(socket, now + refusalLastsMs);
    return Math.max(refusalLastsMs, waitMs);
  }

  #bucketOf(socket: WebSocket): TokenBucket {
    const existing = this.#socketBuckets.get(socket);
    if (existing) return existing;
    const { factor } = this.#ports;
    const bucket = new TokenBucket(socketTokensBurst * factor, socketTokensPerSecond * factor);
    this.#socketBuckets.set(socket, bucket);
    return bucket;
  }

  /**
   * Whoever waits for an answer is told when to ask again; what nobody waits for is dropped, and devices tell it again. A
   * hello that is not read would leave a socket that is told nothing: it is closed, and the reason is the time to wait.
   */
  #refuseMessage(socket: WebSocket, message: string | ArrayBuffer, waitMs: number): void {
    try {
      if (this.#ports.isAwaitingHello(socket) || !this.#refusalBucket.take())
        socket.close(closeCodes.rateLimited, String(waitMs));
      else if (typeof message === "string")
        for (const ref of listUnreadRefs(message))
          socket.send(encodeFrame(toRefusalFrame(ref, "rate_limited", waitMs)));
    } catch (error) {
      logWarning("a socket went away", error);
    }
  }

  /** A message that arrived after its socket was closed: some were on their way. */
  #countClosedMessage(): void {
    this.#closedMessages += 1;
    if (this.#closedMessages <= closedMessagesMax || this.pauseMs > 0) return;
    this.#closedMessages = 0;
    this.#floodedAt = Date.now();
    this.#ports.meta.set(floodKey, String(this.#floodedAt));
    this.#ports.abortSockets();
  }
}

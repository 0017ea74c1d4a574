import {
  closedMessagesMax,
  floodPauseMs,
  refusedMessagesBurst,
  refusedMessagesPerSecond,
  socketTokensBurst,
  socketTokensPerSecond,
  userTokensBurst,
  userTokensPerSecond,
} from "#contract/limits/sockets.ts";
import { listRefsByPattern } from "#contract/wire/client-frames.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import { closeCodes, encodeServerFrame, originBase } from "#contract/wire/server-frames.ts";
import { logWarning } from "#worker/lib/log.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import { costOfLength } from "./frame-costs.ts";

const floodKey = "flood";
const refusalLastsMs = 1_000;

type FrameLimitPorts = {
  /** Multiple of the production limits. */
  factor: number;
  meta: KeyValues;
  /** Whether the socket has not sent its hello yet. */
  isAwaitingHello(socket: WebSocket): boolean;
  /** Aborts the object and with it all its sockets. */
  abortSockets(): void;
};

/**
 * Rate limits of one person's devices, in tokens: a bucket for each socket, so that one device leaves room for the
 * others, and one for the person, shared with commands by HTTP. A request is charged after it is decoded, so a bucket
 * can become negative; until it has recovered, messages are refused before decoding. Hibernation fills the buckets, but
 * only after about as much inactivity as refilling takes.
 */
export class FrameLimits {
  readonly #ports: FrameLimitPorts;
  readonly #socketBuckets = new WeakMap<WebSocket, TokenBucket>();
  /** Time until which a socket is refused everything after one refusal. */
  readonly #refusedUntil = new WeakMap<WebSocket, number>();
  readonly #userBucket: TokenBucket;
  readonly #refusalBucket: TokenBucket;
  #closedMessages = 0;
  /** Time of the last abort because of a flood. */
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

  /** Milliseconds during which no socket of this person is opened, 0 if there is no pause. */
  get pauseMs(): number {
    const leftMs = this.#floodedAt + floodPauseMs - Date.now();
    return leftMs > floodPauseMs ? 0 : Math.max(0, leftMs); // longer than the pause itself: the clock was set back
  }

  /**
   * Whether to read a message of a socket. False if the socket is closed or above its limit; a refusal is sent in that
   * case.
   */
  admitMessage(socket: WebSocket, message: string | ArrayBuffer): boolean {
    const lengthTokens = costOfLength(typeof message === "string" ? message.length : message.byteLength);
    if (socket.readyState !== WebSocket.READY_STATE_OPEN) {
      this.#countClosedMessage(1 + lengthTokens);
      return false;
    }
    const now = Date.now();
    const waitMs = this.#waitMs(socket, now);
    if (waitMs > 0) {
      const isTolerated = this.#refusalBucket.take(now, 1 + lengthTokens);
      this.#refuseMessage(socket, message, { waitMs, isTolerated });
      return false;
    }
    this.charge(socket, lengthTokens);
    return true;
  }

  /** Charges the cost of frames besides their length. */
  charge(socket: WebSocket, tokens: number): void {
    this.#bucketOf(socket).spend(tokens);
    this.#userBucket.spend(tokens);
  }

  /** Charges a command by HTTP to the person's bucket. */
  takeTokens(tokens: number): Refusal | undefined {
    const waitMs = this.#userBucket.waitMs();
    if (waitMs > 0) return { error: "rate_limited", retryAfterMs: waitMs };
    this.#userBucket.spend(tokens);
    return undefined;
  }

  /**
   * Milliseconds to wait. A refusal lasts for `refusalLastsMs`, so that no message overtakes an earlier one of the same
   * device.
   */
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
   * Refuses a message: a request is answered with the time to wait; a frame that expects no answer is dropped, and the
   * device repeats it. A socket that has not said hello yet, or that exceeds the tolerated refusals, is closed instead,
   * with the time to wait as close reason.
   */
  #refuseMessage(
    socket: WebSocket,
    message: string | ArrayBuffer,
    { waitMs, isTolerated }: { waitMs: number; isTolerated: boolean },
  ): void {
    try {
      if (this.#ports.isAwaitingHello(socket) || !isTolerated) socket.close(closeCodes.rateLimited, String(waitMs));
      else if (typeof message === "string")
        for (const ref of listRefsByPattern(message))
          socket.send(
            encodeServerFrame({ type: "refusal", ref, error: "rate_limited", retryAfterMs: waitMs }, originBase),
          );
    } catch (error) {
      logWarning("sending to a socket failed", error);
    }
  }

  /** Counts a message on a closed socket by its tokens. Some may have been in flight; too many abort the object. */
  #countClosedMessage(tokens: number): void {
    this.#closedMessages += tokens;
    if (this.#closedMessages <= closedMessagesMax || this.pauseMs > 0) return;
    this.#closedMessages = 0;
    this.#floodedAt = Date.now();
    this.#ports.meta.set(floodKey, String(this.#floodedAt));
    this.#ports.abortSockets();
  }
}

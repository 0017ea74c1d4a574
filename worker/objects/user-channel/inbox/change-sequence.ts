import { parsePong, pingFrame, toPongFrame } from "#contract/wire/server-frames.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import type { PushBuilder } from "./push-builders.ts";

/** More changes than can be pushed but unwritten when an object dies (deferred for `receiptHoldMs`). */
export const counterReserve = 1_024;

const startSpread = 64 * 1024; // two instances that start from the same storage are unlikely to use the same numbers
const skippedMax = 32;

/** Numbers between `after` and `start`, both excluded, that were skipped when an instance began at `start`. */
type SkippedRange = { after: number; start: number };

/** Number of the newest written change, found through the newest bucket of each table. */
const readNewestWritten = (sql: SqlStorage): number => {
  const newest = ["inbox", "people"].map(
    (table) =>
      sql
        .exec<{ last: number | null }>(
          `SELECT max(changed) AS last FROM ${table} WHERE bucket = (SELECT max(bucket) FROM ${table})`,
        )
        .one().last,
  );
  return Math.max(0, ...newest.map((last) => last ?? 0));
};

/** Skipped ranges as "after:start", newest last. An older form holds only the newest start. */
const parseSkippedRanges = (stored: string | undefined): SkippedRange[] =>
  (stored ?? "").split(",").flatMap((range) => {
    const [after, start] = range.split(":").map(Number);
    if (range === "" || after === undefined) return [];
    return [start === undefined ? { after, start: after } : { after, start }];
  });

/**
 * Change counter of a person. Each change gets the next number and is pushed to all sockets under it. After a restart
 * the counter continues above every number ever sent, so that none is used twice.
 *
 * A device whose cursor lies in a skipped range has changes that this storage lacks: the object died before writing
 * them, or was restored from an older copy.
 */
export class ChangeSequence {
  readonly epoch: string;
  readonly #ctx: DurableObjectState;
  readonly #meta: KeyValues;
  readonly #sockets: SocketRegistry;
  readonly #skipped: readonly SkippedRange[];
  #value: number;
  #isStartWritten: boolean;

  /** `changed`: newest number that is stored outside the bucket tables. */
  constructor(ctx: DurableObjectState, meta: KeyValues, sockets: SocketRegistry, changed: number) {
    this.#ctx = ctx;
    this.#meta = meta;
    this.#sockets = sockets;
    this.epoch = meta.get("epoch") ?? crypto.randomUUID().slice(0, 8);
    if (meta.get("epoch") === undefined) meta.set("epoch", this.epoch);
    // Sockets that survived the previous instance received every change.
    const lastValue = sockets.hasReadySocket ? parsePong(ctx.getWebSocketAutoResponse()?.response ?? "") : undefined;
    this.#isStartWritten = lastValue !== undefined;
    const skipped = parseSkippedRanges(meta.get("floor"));
    this.#skipped = skipped;
    this.#value = lastValue ?? 0;
    if (lastValue === undefined) {
      const after = Math.max(readNewestWritten(ctx.storage.sql), skipped.at(-1)?.start ?? 0, changed);
      const isFirst = skipped.length === 0 && after === 0;
      this.#value = isFirst ? 0 : after + counterReserve + Math.floor(Math.random() * startSpread);
      this.#skipped = [...skipped, { after, start: this.#value }].slice(-skippedMax);
    }
    this.#updatePong();
  }

  /** Whether a cursor belongs to this storage. */
  isKnown(counter: number): boolean {
    return counter <= this.#value && !this.#skipped.some(({ after, start }) => counter > after && counter < start);
  }

  /** Number of the last change. */
  get value(): number {
    return this.#value;
  }

  /** Number of the next change. */
  get next(): number {
    return this.#value + 1;
  }

  /** Pushes changes to the sockets, each under the next number. */
  pushChanges(changes: readonly PushBuilder[]): void {
    for (const change of changes) {
      this.#value += 1;
      const counter = this.#value;
      this.#sockets.pushChange((socket, base) => change(counter, socket, base));
    }
    if (changes.length > 0) this.#updatePong();
  }

  /** Stores the start of this instance before a device first receives the counter. */
  writeStart(): void {
    if (this.#isStartWritten) return;
    this.#isStartWritten = true;
    this.#meta.set("floor", this.#skipped.map(({ after, start }) => `${after}:${start}`).join());
  }

  /** Puts the counter into the automatic pong, so that a device which missed the last change notices. */
  #updatePong(): void {
    this.#ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(pingFrame, toPongFrame(this.#value)));
  }
}

import { parsePong, pingFrame, toPongFrame } from "#contract/wire/server-frames.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import type { PushBuilder } from "./change-push.ts";

/** More changes than can be pushed and not yet be written when an object dies (they are held `markHoldMs`). */
export const counterReserve = 1_024;

const startSpread = 64 * 1024; // two lives that begin with the same storage are unlikely to give out the same numbers
const skippedMax = 32;

/** Numbers after `after` and before `start`, which this storage has no change of: skipped when a life began at `start`. */
type SkippedRange = { after: number; start: number };

/** The number of the newest written change, found through the newest bucket of each table. */
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

/** The lives so far, "after:start" each, the newest last. An older form is the newest start alone. */
const parseSkippedRanges = (stored: string | undefined): SkippedRange[] =>
  (stored ?? "").split(",").flatMap((range) => {
    const [after, start] = range.split(":").map(Number);
    if (range === "" || after === undefined) return [];
    return [start === undefined ? { after, start: after } : { after, start }];
  });

/**
 * Numbers what changes for a person: each change gets the next number and is pushed to every socket under it. After a
 * restart the counter goes on beyond every number that was ever told, so that none is told twice.
 *
 * A device that comes with one of the numbers skipped then has heard of changes that this storage does not hold: the
 * object died before it wrote them, or was restored from an earlier copy.
 */
export class ChangeSequence {
  readonly epoch: string;
  readonly #ctx: DurableObjectState;
  readonly #meta: KeyValues;
  readonly #sockets: SocketRegistry;
  readonly #skipped: readonly SkippedRange[];
  #value: number;
  #isStartWritten: boolean;

  /** `changed`: the newest number that no bucket tells of. */
  constructor(ctx: DurableObjectState, meta: KeyValues, sockets: SocketRegistry, changed: number) {
    this.#ctx = ctx;
    this.#meta = meta;
    this.#sockets = sockets;
    this.epoch = meta.get("epoch") ?? crypto.randomUUID().slice(0, 8);
    if (meta.get("epoch") === undefined) meta.set("epoch", this.epoch);
    // Sockets that outlived the instance were told of every change there was.
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

  /** Whether a device may have come so far in the changes of this storage. */
  isKnown(counter: number): boolean {
    return counter <= this.#value && !this.#skipped.some(({ after, start }) => counter > after && counter < start);
  }

  /** The number of the last change. */
  get value(): number {
    return this.#value;
  }

  /** The one that the next change gets. */
  get next(): number {
    return this.#value + 1;
  }

  /** Tells the sockets of changes, each under the next number. */
  pushChanges(changes: readonly PushBuilder[]): void {
    for (const change of changes) {
      this.#value += 1;
      const counter = this.#value;
      this.#sockets.pushChange((socket, base) => change(counter, socket, base));
    }
    if (changes.length > 0) this.#updatePong();
  }

  /** Before a device first hears of the counter in this instance's life, the place it started from is kept. */
  writeStart(): void {
    if (this.#isStartWritten) return;
    this.#isStartWritten = true;
    this.#meta.set("floor", this.#skipped.map(({ after, start }) => `${after}:${start}`).join());
  }

  /** Devices hear the counter in every pong, so that one which missed the last change learns of it. */
  #updatePong(): void {
    this.#ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(pingFrame, toPongFrame(this.#value)));
  }
}

import { pingFrame, pongFrame, readPong } from "../../contract/protocol";
import { bucketSize } from "./inbox";
import type { Meta } from "./meta";
import type { ToPush } from "./pushes";
import type { Sockets } from "./sockets";

/** More changes than can be pushed and not yet be written when an object dies (they are held `markHoldMs`). */
export const counterReserve = 1_024;

/** A number that no written change has passed. */
const readCounterBound = (sql: SqlStorage): number => {
  const buckets = ["inbox", "people"].map(
    (table) => sql.exec<{ last: number | null }>(`SELECT max(bucket) AS last FROM ${table}`).one().last,
  );
  return Math.max(0, ...buckets.map((bucket) => (bucket === null ? 0 : (bucket + 1) * bucketSize - 1)));
};

/** Where the counter of a new life starts: at nothing only in the very first. */
const beyondEveryTold = (sql: SqlStorage, floor: string | undefined, changed: number): number => {
  const written = Math.max(readCounterBound(sql), Number(floor ?? 0), changed);
  return floor === undefined && written === 0 ? 0 : written + counterReserve;
};

/**
 * Numbers what changes for a person: each change gets the next number and is pushed to every socket under it. After a
 * restart the counter goes on beyond every number that was ever told, so that none is told twice.
 */
export class ChangeCounter {
  readonly epoch: string;
  readonly #ctx: DurableObjectState;
  readonly #meta: Meta;
  readonly #sockets: Sockets;
  #value: number;
  #isFloorWritten: boolean;

  /** `changed`: the newest number that no bucket tells of. */
  constructor(ctx: DurableObjectState, meta: Meta, sockets: Sockets, changed: number) {
    this.#ctx = ctx;
    this.#meta = meta;
    this.#sockets = sockets;
    this.epoch = meta.get("epoch") ?? crypto.randomUUID().slice(0, 8);
    if (meta.get("epoch") === undefined) meta.set("epoch", this.epoch);
    // Sockets that outlived the instance were told of every change there was.
    const lastValue = sockets.isTold ? readPong(ctx.getWebSocketAutoResponse()?.response ?? "") : undefined;
    this.#isFloorWritten = lastValue !== undefined;
    this.#value = lastValue ?? beyondEveryTold(ctx.storage.sql, meta.get("floor"), changed);
    this.#announce();
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
  push(changes: readonly ToPush[]): void {
    for (const change of changes) {
      this.#value += 1;
      const counter = this.#value;
      this.#sockets.push((socket, base) => change(counter, socket, base));
    }
    if (changes.length > 0) this.#announce();
  }

  /** Before a device first hears of the counter in this instance's life, the place it started from is kept. */
  writeFloor(): void {
    if (this.#isFloorWritten) return;
    this.#isFloorWritten = true;
    this.#meta.set("floor", String(this.#value));
  }

  /** Devices hear the counter in every pong, so that one which missed the last change learns of it. */
  #announce(): void {
    this.#ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(pingFrame, pongFrame(this.#value)));
  }
}

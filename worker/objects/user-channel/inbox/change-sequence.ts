import { parsePong, pingFrame, toPongFrame } from "#contract/wire/server-frames.ts";
import { isRestored, newEpoch } from "#worker/objects/shared/epochs.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import type { PushBuilder } from "./push-builders.ts";

/** More changes than can be pushed but unwritten when an object dies (deferred for `receiptHoldMs`). */
export const counterReserve = 1_024;

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

/** Dependencies of the change counter. */
export type ChangeSequencePorts = {
  ctx: DurableObjectState;
  meta: KeyValues;
  sockets: SocketRegistry;
  /** Restore generation in force. */
  generation: number;
};

/**
 * Change counter of a person. Each change gets the next number and is pushed to all sockets under it. After a restart
 * the counter continues above every number ever sent, so that none is used twice. A restored inbox gets a new epoch
 * before a device can say its cursor, and every device then fetches the whole of it.
 */
export class ChangeSequence {
  readonly epoch: string;
  readonly #ctx: DurableObjectState;
  readonly #meta: KeyValues;
  readonly #sockets: SocketRegistry;
  #value: number;
  #isStartWritten: boolean;

  /** `changed`: newest number that is stored outside the bucket tables. */
  constructor({ ctx, meta, sockets, generation }: ChangeSequencePorts, changed: number) {
    this.#ctx = ctx;
    this.#meta = meta;
    this.#sockets = sockets;
    const stored = meta.get("epoch");
    const isOwnEpoch = stored !== undefined && !isRestored(stored, generation);
    this.epoch = isOwnEpoch ? stored : newEpoch(generation);
    if (!isOwnEpoch) {
      meta.set("epoch", this.epoch);
      sockets.closeSessions("all", "behind"); // they follow the old epoch
    }
    // Sockets that survived the previous instance received every change.
    const hasSurvivors = isOwnEpoch && sockets.hasReadySocket;
    const lastValue = hasSurvivors ? parsePong(ctx.getWebSocketAutoResponse()?.response ?? "") : undefined;
    this.#isStartWritten = lastValue !== undefined;
    const floor = meta.get("floor");
    const after = Math.max(readNewestWritten(ctx.storage.sql), Number(floor ?? 0), changed);
    const isFirst = floor === undefined && after === 0;
    this.#value = lastValue ?? (isFirst ? 0 : after + counterReserve);
    this.#updatePong();
  }

  /** Whether a cursor can be of this inbox. */
  isKnown(counter: number): boolean {
    return counter <= this.#value;
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
    this.#meta.set("floor", String(this.#value));
  }

  /** Puts the counter into the automatic pong, so that a device which missed the last change notices. */
  #updatePong(): void {
    this.#ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(pingFrame, toPongFrame(this.#value)));
  }
}

import type { ConversationId, Uuid } from "#contract/ids.ts";
import { type AppFrame, encodeAppFrame } from "#contract/wire/app-frames.ts";
import { joinFrames } from "#contract/wire/server-frames.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";
import type { ReconnectingSocket } from "./socket.ts";

type FrameBatch = readonly [OutboxRow, ...OutboxRow[]];

/** Groups due messages by frame: a single message, or all messages of a multicast. */
export const groupIntoFrames = (due: readonly OutboxRow[]): FrameBatch[] => {
  const frames: [OutboxRow, ...OutboxRow[]][] = [];
  for (const row of due) {
    const frame = frames.at(-1);
    if (frame && row.multicastId !== undefined && frame[0].multicastId === row.multicastId) frame.push(row);
    else frames.push([row]);
  }
  return frames;
};

/** Writes frames to the socket and remembers the refs of sent messages until they are acknowledged. */
export class FrameWriter {
  readonly #socket: ReconnectingSocket;
  #lastRef = 0;
  #buffer: string[] = [];
  readonly #sentRefs = new Map<number, { cid: Uuid; conversation: ConversationId }>();

  constructor(socket: ReconnectingSocket) {
    this.#socket = socket;
  }

  /** Discards buffered frames and refs of a closed socket. */
  reset(): void {
    this.#buffer = [];
    this.#sentRefs.clear();
  }

  /** Unacknowledged messages by ref. */
  get sentRefs(): ReadonlyMap<number, { cid: Uuid; conversation: ConversationId }> {
    return this.#sentRefs;
  }

  releaseRef(ref: number): void {
    this.#sentRefs.delete(ref);
  }

  /** Ref of the next request. */
  nextRef(): number {
    return ++this.#lastRef;
  }

  /**
   * Buffers a frame; frames written in the same turn of the event loop leave together. Returns false if the socket is
   * closed; true does not guarantee delivery.
   */
  write(frame: AppFrame): boolean {
    if (!this.#socket.isOpen) return false;
    if (this.#buffer.push(encodeAppFrame(frame)) === 1) queueMicrotask(() => this.#flush());
    return true;
  }

  /** Writes a frame of one or more messages, each with its own ref. */
  writeMessages(messages: readonly OutboxRow[], toFrame: (ref: number) => AppFrame): boolean {
    const first = this.#lastRef + 1;
    this.#lastRef += messages.length;
    if (!this.write(toFrame(first))) return false;
    for (const [i, { cid, conversation }] of messages.entries()) this.#sentRefs.set(first + i, { cid, conversation });
    return true;
  }

  #flush(): void {
    for (const text of joinFrames(this.#buffer.splice(0))) this.#socket.send(text);
  }
}

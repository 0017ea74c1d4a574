import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { ClientFrame } from "#contract/wire/client-frames.ts";
import { encodeFrame, joinFrames } from "#contract/wire/server-frames.ts";
import type { OutboxRow } from "#sync/store/database.ts";
import type { ReconnectingSocket } from "./socket.ts";

/** Writes frames to the socket, and knows under which numbers messages went that have no place in a log yet. */
export class FrameWriter {
  readonly #socket: ReconnectingSocket;
  #lastRef = 0;
  #buffer: string[] = [];
  readonly #sentRefs = new Map<number, { cid: Uuid; conversation: ConversationId }>();

  constructor(socket: ReconnectingSocket) {
    this.#socket = socket;
  }

  /** The socket is gone. */
  reset(): void {
    this.#buffer = [];
    this.#sentRefs.clear();
  }

  /** By the number each was sent under. */
  get sentRefs(): ReadonlyMap<number, { cid: Uuid; conversation: ConversationId }> {
    return this.#sentRefs;
  }

  releaseRef(ref: number): void {
    this.#sentRefs.delete(ref);
  }

  /** The number of what is asked next. */
  nextRef(): number {
    return ++this.#lastRef;
  }

  /** What is written in one go leaves together. False when it cannot leave; true promises nothing more. */
  write(frame: ClientFrame): boolean {
    if (!this.#socket.isOpen) return false;
    if (this.#buffer.push(encodeFrame(frame)) === 1) queueMicrotask(() => this.#flush());
    return true;
  }

  /** A frame that takes a number for each of its messages. */
  writeMessages(messages: readonly OutboxRow[], toFrame: (ref: number) => ClientFrame): boolean {
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

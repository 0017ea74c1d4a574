import { Buffer } from "node:buffer";
import { frameMaxBytes, helloTimeoutMs } from "#contract/limits/sockets.ts";
import { type ClientFrame, decodeClientFrames } from "#contract/wire/client-frames.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import type { ClientSocket } from "#worker/objects/user-channel/sockets/socket-state.ts";
import { costOfFrames } from "./frame-costs.ts";
import type { FrameHandler } from "./frame-handler.ts";
import type { FrameLimits } from "./frame-limits.ts";

type FrameReaderPorts = { sockets: SocketRegistry; limits: FrameLimits; handler: Pick<FrameHandler, "unread"> };

/**
 * Decodes messages of sockets into frames. The first frame of a socket must be its hello; unreadable messages are
 * answered here.
 */
export class FrameReader {
  readonly #ports: FrameReaderPorts;
  readonly #helloTimers = new WeakMap<WebSocket, ReturnType<typeof setTimeout>>();

  constructor(ports: FrameReaderPorts) {
    this.#ports = ports;
  }

  /** Closes a new socket that sends no hello in time, since it would keep the object awake. */
  expectHello(socket: ClientSocket): void {
    const close = () => !socket.state?.isReady && this.#ports.sockets.closeSocket(socket, "unwelcomed");
    this.#helloTimers.set(socket, setTimeout(close, helloTimeoutMs));
  }

  isAwaitingHello(socket: WebSocket): boolean {
    return this.#helloTimers.has(socket);
  }

  /** Frames of a message, empty if it does not follow the protocol. */
  readFrames(socket: ClientSocket, message: string | ArrayBuffer): readonly ClientFrame[] {
    const { sockets, limits, handler } = this.#ports;
    const frames = typeof message === "string" && !this.#isTooLarge(message) ? decodeClientFrames(message) : undefined;
    limits.charge(socket, frames ? costOfFrames(frames) : 1);
    const isReady = socket.state?.isReady ?? true;
    if (typeof message !== "string") sockets.closeSocket(socket, "protocol");
    else if (this.#isTooLarge(message)) sockets.closeSocket(socket, "tooLarge");
    else if (!frames && isReady) handler.unread(socket, message);
    else if (!frames || frames.some(({ type }) => (type === "hello") === isReady)) sockets.rejectMalformed(socket);
    else {
      clearTimeout(this.#helloTimers.get(socket));
      this.#helloTimers.delete(socket);
      sockets.recordFrames(socket);
      return frames;
    }
    return [];
  }

  #isTooLarge(message: string): boolean {
    return message.length > frameMaxBytes || Buffer.byteLength(message) > frameMaxBytes;
  }
}

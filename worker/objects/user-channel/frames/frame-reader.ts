import { Buffer } from "node:buffer";
import { frameMaxBytes, helloTimeoutMs } from "#contract/limits.ts";
import { type ClientFrame, decodeClientFrames } from "#contract/wire/client-frames.ts";
import type { Socket, Sockets } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { costOfFrames } from "./frame-costs.ts";
import type { Asking } from "./frame-handler.ts";
import type { FrameLimits } from "./frame-limits.ts";

type Host = { sockets: Sockets; limits: FrameLimits; asking: Pick<Asking, "unread"> };

/** What arrives on sockets, as frames: the first of a socket is its hello, and what cannot be read is answered here. */
export class FrameReader {
  readonly #host: Host;
  readonly #helloTimers = new WeakMap<WebSocket, ReturnType<typeof setTimeout>>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** A socket is new. One that says nothing is no device, and keeps this object from nothing but its sleep. */
  expectHello(socket: Socket): void {
    const close = () => !socket.state?.isReady && this.#host.sockets.close(socket, "unwelcomed");
    this.#helloTimers.set(socket, setTimeout(close, helloTimeoutMs));
  }

  awaitsHello(socket: WebSocket): boolean {
    return this.#helloTimers.has(socket);
  }

  /** The frames of a message, none when it is not of the protocol. */
  read(socket: Socket, message: string | ArrayBuffer): readonly ClientFrame[] {
    const { sockets, limits, asking } = this.#host;
    const frames = typeof message === "string" && !this.#isTooLarge(message) ? decodeClientFrames(message) : undefined;
    limits.charge(socket, frames ? costOfFrames(frames) : 1);
    const isReady = socket.state?.isReady ?? true;
    if (typeof message !== "string") sockets.close(socket, "protocol");
    else if (this.#isTooLarge(message)) sockets.close(socket, "tooLarge");
    else if (!frames && isReady) asking.unread(socket, message);
    else if (!frames || frames.some(([type]) => (type === "h") === isReady)) sockets.malformed(socket);
    else {
      clearTimeout(this.#helloTimers.get(socket));
      this.#helloTimers.delete(socket);
      return frames;
    }
    return [];
  }

  #isTooLarge(message: string): boolean {
    return message.length > frameMaxBytes || Buffer.byteLength(message) > frameMaxBytes;
  }
}

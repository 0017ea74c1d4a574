import type { ClientFrame } from "../../contract/client-frames";
import { baseOf, protocolVersion } from "../../contract/protocol";
import { logWarning } from "../lib/log";
import type { Asking, FrameOf } from "./asking";
import type { Commands } from "./commands";
import type { Feed } from "./feed";
import { changesTail } from "./frames";
import type { Presences } from "./presences";
import type { Socket, Sockets } from "./sockets";
import type { Typing } from "./typing";

type Host = {
  ctx: Pick<DurableObjectState, "waitUntil">;
  sockets: Sockets;
  feed: Feed;
  typing: Typing;
  presences: Presences;
  commands: Commands;
  asking: Asking;
};

/** Frames of devices, each to whoever sees to its kind. */
export class FrameRouting {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  async take(socket: Socket, frame: ClientFrame): Promise<void> {
    const { sockets, typing, presences, asking } = this.#host;
    switch (frame[0]) {
      case "h":
        return this.#hello(socket, frame);
      case "k":
        if (!sockets.confirm(socket, frame[1])) sockets.malformed(socket);
        return;
      case "t":
        return this.#later(typing.say(frame[1]), "typing was not passed on");
      case "f":
        return asking.spread(socket, frame);
      case "l":
        return this.#later(presences.look(socket, frame[1] === 1), "who waits for somebody was not told");
      default:
        return asking.ask(socket, frame);
    }
  }

  #later(work: Promise<unknown>, failure: string): void {
    this.#host.ctx.waitUntil(work.catch((error: unknown) => logWarning(failure, error)));
  }

  #hello(socket: Socket, [, version, epoch, counter]: FrameOf<"h">): void {
    const { sockets, feed, commands } = this.#host;
    if (version !== protocolVersion) {
      sockets.answer(socket, ["x", "unknown_protocol"]);
      sockets.close(socket, "protocol");
      return;
    }
    const changes = commands.changes(socket.state?.session, epoch === feed.epoch ? counter : 0);
    const base = baseOf(changes);
    sockets.welcome(socket, base);
    sockets.answer(socket, ["w", protocolVersion, ...changesTail(changes, base)]);
  }
}

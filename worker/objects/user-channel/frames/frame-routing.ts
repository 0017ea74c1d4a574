import type { ClientFrame } from "#contract/wire/client-frames.ts";
import { baseOf, protocolVersion } from "#contract/wire/server-frames.ts";
import { logWarning } from "#worker/lib/log.ts";
import type { Commands } from "#worker/objects/user-channel/commands/command-router.ts";
import type { Feed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { Presences } from "#worker/objects/user-channel/presence/presence.ts";
import type { Typing } from "#worker/objects/user-channel/presence/typing.ts";
import { changesTail } from "#worker/objects/user-channel/sockets/server-frames.ts";
import type { Socket, Sockets } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import type { Asking, FrameOf } from "./frame-handler.ts";

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

import * as clientFrame from "#contract/wire/client-frame-types.ts";
import type { ClientFrame } from "#contract/wire/client-frames.ts";
import * as serverFrame from "#contract/wire/server-frame-types.ts";
import { protocolVersion, toSocketBase } from "#contract/wire/server-frames.ts";
import { logWarning } from "#worker/lib/log.ts";
import type { CommandRouter } from "#worker/objects/user-channel/commands/command-router.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { PresenceTracker } from "#worker/objects/user-channel/presence/presence.ts";
import type { TypingRelay } from "#worker/objects/user-channel/presence/typing.ts";
import type { PushNotifications } from "#worker/objects/user-channel/push/push-notifications.ts";
import { toChangesFields } from "#worker/objects/user-channel/sockets/server-frames.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import type { ClientSocket } from "#worker/objects/user-channel/sockets/socket-state.ts";
import type { ClientFrameOf, FrameHandler } from "./frame-handler.ts";

type FrameRouterPorts = {
  ctx: Pick<DurableObjectState, "waitUntil">;
  sockets: SocketRegistry;
  inbox: InboxFeed;
  typing: TypingRelay;
  presence: PresenceTracker;
  push: Pick<PushNotifications, "handleDeviceEntered" | "handleDeviceLeft" | "hasFormerKey">;
  commands: CommandRouter;
  handler: FrameHandler;
};

/** Routes each frame to the component for its type. */
export class FrameRouter {
  readonly #ports: FrameRouterPorts;

  constructor(ports: FrameRouterPorts) {
    this.#ports = ports;
  }

  async routeFrame(socket: ClientSocket, frame: ClientFrame): Promise<void> {
    const { sockets, typing, presence, push, handler } = this.#ports;
    switch (frame[0]) {
      case clientFrame.hello:
        return this.#handleHello(socket, frame);
      case clientFrame.received:
        if (!sockets.confirmReceived(socket, frame[1])) sockets.rejectMalformed(socket);
        return;
      case clientFrame.typing:
        return this.#runInBackground(typing.sendTyping(frame[1]), "relaying typing failed");
      case clientFrame.multicast:
        return handler.handleMulticast(socket, frame);
      case clientFrame.foreground:
        presence.setForeground(socket, frame[1] === 1);
        if (frame[1] === 0) push.handleDeviceLeft();
        else if (socket.state) push.handleDeviceEntered(socket.state.session);
        return;
      default:
        return handler.handleCommand(socket, frame);
    }
  }

  #runInBackground(work: Promise<unknown>, failure: string): void {
    this.#ports.ctx.waitUntil(work.catch((error: unknown) => logWarning(failure, error)));
  }

  #handleHello(socket: ClientSocket, [, version, epoch, counter]: ClientFrameOf<"hello">): void {
    const { sockets, inbox, commands } = this.#ports;
    if (version !== protocolVersion) {
      sockets.sendFrame(socket, [serverFrame.error, "unknown_protocol"]);
      sockets.closeSocket(socket, "protocol");
      return;
    }
    const changes = commands.readChanges(socket.state?.session, epoch === inbox.epoch ? counter : 0);
    const base = toSocketBase(changes);
    sockets.markReady(socket, base);
    sockets.sendFrame(socket, [serverFrame.welcome, protocolVersion, ...toChangesFields(changes, base)]);
    this.#runInBackground(this.#announceKeyChange(socket), "comparing the push key failed");
  }

  async #announceKeyChange(socket: ClientSocket): Promise<void> {
    const { sockets, push } = this.#ports;
    const session = socket.state?.session;
    if (session !== undefined && (await push.hasFormerKey(session)))
      sockets.sendFrame(socket, [serverFrame.pushKeyChanged]);
  }
}

import type { ClientFrame, ClientFrameOf } from "#contract/wire/client-frames.ts";
import { protocolVersion, toSocketBase } from "#contract/wire/server-frames.ts";
import { logWarning } from "#worker/lib/log.ts";
import type { CommandRouter } from "#worker/objects/user-channel/commands/command-router.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { PresenceTracker } from "#worker/objects/user-channel/presence/presence.ts";
import type { TypingRelay } from "#worker/objects/user-channel/presence/typing.ts";
import type { PushNotifications } from "#worker/objects/user-channel/push/push-notifications.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import type { ClientSocket } from "#worker/objects/user-channel/sockets/socket-state.ts";
import type { FrameHandler } from "./frame-handler.ts";

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
    switch (frame.type) {
      case "hello":
        return this.#handleHello(socket, frame);
      case "received":
        if (!sockets.confirmReceived(socket, frame.messages)) sockets.rejectMalformed(socket);
        return;
      case "typing":
        return this.#runInBackground(typing.sendTyping(frame.conversation), "relaying typing failed");
      case "multicast":
        return handler.handleMulticast(socket, frame);
      case "foreground":
        presence.setForeground(socket, frame.isForeground);
        if (!frame.isForeground) push.handleDeviceLeft();
        else if (socket.state) push.handleDeviceEntered(socket.state.session);
        return;
      default:
        return handler.handleCommand(socket, frame);
    }
  }

  #runInBackground(work: Promise<unknown>, failure: string): void {
    this.#ports.ctx.waitUntil(work.catch((error: unknown) => logWarning(failure, error)));
  }

  #handleHello(socket: ClientSocket, { version, epoch, counter }: ClientFrameOf<"hello">): void {
    const { sockets, inbox, commands } = this.#ports;
    if (version !== protocolVersion) {
      sockets.sendFrame(socket, { type: "error", error: "unknown_protocol" });
      sockets.closeSocket(socket, "protocol");
      return;
    }
    const changes = commands.readChanges(socket.state?.session, epoch === inbox.epoch ? counter : 0);
    sockets.markReady(socket, toSocketBase(changes));
    sockets.sendFrame(socket, { type: "welcome", version: protocolVersion, ...changes });
    this.#runInBackground(this.#announceKeyChange(socket), "comparing the push key failed");
  }

  async #announceKeyChange(socket: ClientSocket): Promise<void> {
    const { sockets, push } = this.#ports;
    const session = socket.state?.session;
    if (session !== undefined && (await push.hasFormerKey(session)))
      sockets.sendFrame(socket, { type: "pushKeyChanged" });
  }
}

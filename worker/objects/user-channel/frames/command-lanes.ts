import { commandsAtOnce } from "#contract/limits/sockets.ts";

type SocketLane = { running: number; waiting: (() => void)[] };

/**
 * Limits commands that call other objects: at most `commandsAtOnce` run per socket, the others wait in order. Waiting
 * commands are dropped when their socket closes.
 */
export class CommandLanes {
  readonly #lanes = new WeakMap<WebSocket, SocketLane>();

  async run(socket: WebSocket, work: () => Promise<void>): Promise<void> {
    const lane = this.#lanes.get(socket) ?? { running: 0, waiting: [] };
    this.#lanes.set(socket, lane);
    if (lane.running < commandsAtOnce) lane.running += 1;
    else await new Promise<void>((resolve) => lane.waiting.push(resolve));
    try {
      if (socket.readyState === WebSocket.READY_STATE_OPEN) await work();
    } finally {
      const next = lane.waiting.shift();
      if (next) next();
      else lane.running -= 1;
    }
  }
}

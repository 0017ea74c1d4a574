import { commandsAtOnce } from "../../contract/limits";

type Lane = { running: number; waiting: (() => void)[] };

/**
 * What sockets ask for and somebody else has to be asked about: so much of each socket under way at once, the rest in its
 * order. What is still waiting when its socket closes is not done any more.
 */
export class CommandLanes {
  readonly #lanes = new WeakMap<WebSocket, Lane>();

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

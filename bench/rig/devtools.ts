import { once } from "node:events";
import WebSocket from "ws";

type Answer = { id?: number; result?: unknown; error?: { message: string } };

/**
 * DevTools protocol without a library: unlike Playwright it attaches to nothing by itself, and a service worker with
 * DevTools attached starts later and is never stopped.
 */
export class DevTools {
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => {
      const { id, result, error } = JSON.parse(String(data)) as Answer;
      const command = id === undefined ? undefined : this.#pending.get(id);
      if (id === undefined || !command) return;
      this.#pending.delete(id);
      if (error) command.reject(new Error(error.message));
      else command.resolve(result);
    });
  }

  /** Connects to the browser that listens on a port. */
  static async connect(port: string): Promise<DevTools> {
    const answer = await fetch(`http://127.0.0.1:${port}/json/version`);
    const { webSocketDebuggerUrl } = (await answer.json()) as { webSocketDebuggerUrl: string };
    const socket = new WebSocket(webSocketDebuggerUrl, { perMessageDeflate: false });
    await once(socket, "open");
    return new DevTools(socket);
  }

  send<T>(method: string, params: object = {}, sessionId?: string): Promise<T> {
    const id = ++this.#lastId;
    return new Promise<unknown>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) }));
    }) as Promise<T>;
  }

  close(): void {
    this.#socket.terminate();
  }
}

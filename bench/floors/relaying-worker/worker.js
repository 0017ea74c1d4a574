// Shortest path in this runtime: one Durable Object that relays from memory, or after writing one row.
import { DurableObject } from "cloudflare:workers";

export class Relay extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    const { sql } = this.ctx.storage;
    sql.exec(
      "CREATE TABLE IF NOT EXISTS messages (seq INTEGER PRIMARY KEY, cid TEXT NOT NULL UNIQUE, at INTEGER, body TEXT)",
    );
    this.head = Number(sql.exec("SELECT max(seq) AS head FROM messages").one().head);
  }

  async fetch(request) {
    const [client, server] = Object.values(new WebSocketPair());
    this.ctx.acceptWebSocket(server, [new URL(request.url).searchParams.get("mode")]);
    return new Response(null, { status: 101, webSocket: client });
  }

  webSocketMessage(socket, data) {
    const [mode] = this.ctx.getTags(socket);
    const [ref, cid, text] = JSON.parse(data);
    const seq = ++this.head;
    const at = Date.now();
    if (mode === "row") this.ctx.storage.sql.exec("INSERT INTO messages VALUES (?, ?, ?, ?)", seq, cid, at, text);
    const frame = JSON.stringify(["m", seq, at, text]);
    for (const other of this.ctx.getWebSockets()) if (other !== socket) other.send(frame);
    socket.send(JSON.stringify(["a", ref, seq, at]));
  }
}

export default {
  fetch: (request, env) => {
    const mode = new URL(request.url).searchParams.get("mode");
    return mode ? env.RELAY.getByName(mode).fetch(request) : new Response("ready");
  },
};

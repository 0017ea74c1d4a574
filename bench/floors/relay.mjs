// Floor: minimal chat server in one `ws` process. Every message goes to all other sockets, and the sender gets an ack.
// With a database each message is committed first, on its own, durable when COMMIT returns. Arguments: "memory", or
// "wal" / "rollback" and the path of the database.
import { DatabaseSync } from "node:sqlite";
import { WebSocketServer } from "ws";

const [mode, file] = process.argv.slice(2);

function openLog() {
  if (mode === "memory") return undefined;
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA journal_mode = ${mode === "wal" ? "WAL" : "DELETE"}; PRAGMA synchronous = FULL;`);
  db.exec(`CREATE TABLE messages (
    seq INTEGER PRIMARY KEY, sender INTEGER NOT NULL, cid TEXT NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL,
    UNIQUE (sender, cid))`);
  return db.prepare("INSERT INTO messages (seq, sender, cid, at, body) VALUES (?, ?, ?, ?, ?)");
}

const insert = openLog();
let head = 0;
const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });

server.on("connection", (socket) => {
  socket.on("message", (data) => {
    const [ref, cid, text] = JSON.parse(data.toString());
    const seq = ++head;
    const at = Date.now();
    insert?.run(seq, 0, cid, at, text);
    const frame = JSON.stringify(["m", seq, at, text]);
    for (const other of server.clients) if (other !== socket) other.send(frame);
    socket.send(JSON.stringify(["a", ref, seq, at]));
  });
});
server.on("listening", () => process.send(server.address().port));
process.on("disconnect", () => process.exit(0));

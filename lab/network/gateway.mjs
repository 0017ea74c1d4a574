// Forwards connections from one endpoint to another: `address:port`, or the path of a Unix socket, which is visible in
// every network namespace. Addresses belong to the namespace this process runs in.
import { connect, createServer } from "node:net";

const toPlace = (text) => {
  const [, host, port] = /^([\w.]+):(\d+)$/.exec(text) ?? [];
  return port ? { host, port: Number(port) } : { path: text };
};
const [from, to] = process.argv.slice(2).map(toPlace);
const server = createServer((inner) => {
  const outer = connect(to);
  inner.pipe(outer).pipe(inner);
  for (const socket of [inner, outer]) {
    socket.setNoDelay(true);
    socket.on("error", () => {
      inner.destroy();
      outer.destroy();
    });
  }
});
server.listen(from, () => console.log("open"));

// Lets what connects to one place reach another: `address:port`, or the path of a socket, which is the same in every
// network namespace. Where this runs decides whose network an address is of.
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

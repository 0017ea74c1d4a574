// Runs inside a namespace: what connects to its address there reaches a server outside through a socket in the file system.
import { connect, createServer } from "node:net";

const [address, port, outside] = process.argv.slice(2);
const server = createServer((inner) => {
  const outer = connect(outside);
  inner.pipe(outer).pipe(inner);
  for (const socket of [inner, outer]) {
    socket.setNoDelay?.(true);
    socket.on("error", () => {
      inner.destroy();
      outer.destroy();
    });
  }
});
server.listen(Number(port), address, () => console.log("open"));
process.stdin.on("end", () => process.exit()).resume();

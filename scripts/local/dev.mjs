// `npm run dev`: like `npm start` with hot reloading, on the same data and secrets.
import { resolve } from "node:path";
import { requireFreePort, root, runServer } from "../run.mjs";
import { readOptions } from "./options.mjs";
import { prepare } from "./prepare.mjs";

try {
  const { port, state } = readOptions();
  await requireFreePort(port);
  prepare({ state });
  runServer("vite", ["dev", "--port", String(port), "--strictPort"], {
    LISOLO_STATE: resolve(root, state),
    LISOLO_MAILBOX: "1",
  });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

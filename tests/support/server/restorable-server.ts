import { cpSync, rmSync } from "node:fs";
import { cheapWork, type Server, startServer } from "./server.ts";

/** Server whose storage can be replaced by an earlier copy, as by a backup. */
export type RestorableServer = {
  server: Server;
  /** Copies the state, for which the server restarts. */
  copy(): Promise<void>;
  /** Replaces the state by the copy, and restarts the server. */
  restore(): Promise<void>;
  /** Stops the server and removes its state and the copy. */
  stop(): Promise<void>;
};

export const startRestorableServer = async (): Promise<RestorableServer> => {
  const server = await startServer({ vars: cheapWork });
  let generation = 0;
  const copyPath = `${server.state}-copy`;
  return {
    server,
    async copy() {
      await server.kill();
      cpSync(server.state, copyPath, { recursive: true });
      await server.restart();
    },
    async restore() {
      await server.kill();
      rmSync(server.state, { recursive: true });
      cpSync(copyPath, server.state, { recursive: true });
      generation += 1;
      await server.restart({ RESTORE_GENERATION: String(generation) });
    },
    async stop() {
      rmSync(copyPath, { recursive: true, force: true });
      await server.stop();
    },
  };
};

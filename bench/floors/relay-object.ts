import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import WebSocket from "ws";
import type { Rig } from "#bench/rig/rig.ts";
import { bin, toolEnv } from "#scripts/run.mjs";
import { root } from "#tests/support/server/state.ts";
import { makeRelayRig } from "./relay.ts";

const startTimeoutMs = 30_000;

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, "localhost");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  return port;
}

/**
 * Floor of the runtime: a Durable Object that only relays, served by Wrangler. The difference from `ws` to it is the
 * cost of the runtime and of Wrangler's development proxy, which does not stand before the product.
 */
export async function startRelayObject(
  folder: string,
): Promise<{ rig(name: string, mode: "memory" | "row"): Promise<Rig>; stop(): Promise<void> }> {
  const source = join(folder, "relay-object");
  cpSync(fileURLToPath(new URL("relaying-worker", import.meta.url)), source, { recursive: true });
  const port = await findFreePort();
  const cli = join(root, "node_modules", "wrangler", "wrangler-dist", "cli.js");
  const args = [cli, "dev", "-c", join(source, "wrangler.jsonc"), "--port", String(port), "--inspector-port", "0"];
  const child = spawn(
    join(bin, "node"),
    [...args, "--persist-to", join(folder, "relay-state"), "--log-level", "warn"],
    {
      cwd: source,
      env: toolEnv({
        CI: "1",
        WRANGLER_REGISTRY_PATH: join(folder, "relay-registry"),
        WRANGLER_LOG_PATH: join(folder, "relay-logs"),
      }),
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-10_000);
    });
  }
  const kill = () => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-child.pid, "SIGKILL"); // a separate process group with only Wrangler and its workerd
  };
  process.once("exit", kill);
  const stop = async () => {
    process.off("exit", kill);
    const ended = once(child, "exit");
    kill();
    await ended;
  };
  const deadline = Date.now() + startTimeoutMs;
  const ask = () => fetch(`http://localhost:${port}`, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
  while (!(await ask())?.ok) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop();
      throw new Error(`The relaying object did not start\n${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const connect = async (mode: string) => {
    const socket = new WebSocket(`ws://localhost:${port}/?mode=${mode}`, { perMessageDeflate: false });
    await once(socket, "open");
    return socket;
  };
  return {
    rig: async (name, mode) => ({ ...makeRelayRig(name, await connect(mode), await connect(mode)), isExtra: true }),
    stop,
  };
}

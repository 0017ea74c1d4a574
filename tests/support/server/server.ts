import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeSecrets, toEnvFile } from "#scripts/local/secrets.mjs";
import { bin, toolEnv } from "#scripts/run.mjs";
import { makeState, root } from "./state.ts";

/** The built product, served on this machine with its own state and secrets. */
export type Server = {
  /** Such as `http://localhost:43210`; the same after `restart`. */
  origin: string;
  port: number;
  /** Folder of all stored data; write to it only between `kill` and `restart`. */
  state: string;
  /** Secrets for signing and sealing. */
  secrets: ReturnType<typeof makeSecrets>;
  /** Kills Miniflare and workerd with SIGKILL, as a power cut would, and waits until they are gone. */
  kill(): Promise<void>;
  /**
   * Serves the same state on the same port again, after `kill` or instead of the running server, with `changes` to its
   * secrets and variables.
   */
  restart(changes?: Record<string, string>): Promise<void>;
  /** Stops the server and removes its state. */
  stop(): Promise<void>;
  /** Output of the server so far. */
  log(): string;
};

const script = fileURLToPath(new URL("serve.mjs", import.meta.url));

// Shorter than the fixture's timeout, so that the fixture reports the output. An early exit is reported at once.
const startTimeoutMs = 110_000;
const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) killGroup(child);
});

/** The child leads its own process group, so this reaches its workerd processes only. */
function killGroup(child: ChildProcess) {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Below the system's ephemeral ports: a port that is free here stays free until its server has started. */
const ports = { from: 20_000, to: 32_000 };

export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(ports.from, ports.to);
    const isFree = await new Promise<boolean>((resolve) => {
      const probe = createServer().once("error", () => resolve(false));
      probe.listen(port, "localhost", () => probe.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

async function isHealthy(origin: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/api/health`, { signal: AbortSignal.timeout(2_000) });
    return response.ok;
  } catch {
    return false;
  }
}

/** Tests and benchmarks have few people who do much. `vars` with a factor of 1 apply the production limits. */
const generousLimits = { LOCAL_LIMIT_FACTOR: "1000" };

/** Variables of servers for browser tests, which sign up many people. Benchmarks keep the costs of production. */
export const cheapWork = { LOCAL_CHEAP_WORK: "true" };

type ServerOptions = {
  port?: number;
  /** Variables in addition to the secrets. */
  vars?: Record<string, string>;
  /** Serves by `wrangler dev`, as `npm start` does, which takes twice the work of Miniflare alone. */
  byWrangler?: boolean;
};

/** Starts the product from `dist/` (build first) on a free port. Rejects with the server's output if it does not start. */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const port = options.port ?? (await findFreePort());
  const origin = `http://localhost:${port}`;
  const folder = makeState();
  // A copy, so that a later build does not change the product under a running test.
  const product = join(folder, "dist");
  const state = join(folder, "state");
  cpSync(join(root, "dist"), product, { recursive: true });
  const secrets = makeSecrets();
  const vars = { ...generousLimits, ...options.vars };

  const toCommand = (): string[] => {
    if (!options.byWrangler) return [script, product, String(port), state];
    writeFileSync(join(product, "lisolo", ".dev.vars"), toEnvFile(secrets));
    const cli = join(root, "node_modules", "wrangler", "wrangler-dist", "cli.js");
    const config = join(product, "lisolo", "wrangler.json");
    const args = [cli, "dev", "-c", config, "--port", String(port), "--inspector-port", "0"];
    // Wrangler reads only the secrets that wrangler.toml names.
    const added = Object.entries(vars).flatMap(([name, value]) => ["--var", `${name}:${value}`]);
    return [...args, ...added, "--persist-to", state, "--log-level", "warn"];
  };

  let child: ChildProcess | undefined;
  let output = "";

  async function start() {
    const started = spawn(join(bin, "node"), toCommand(), {
      cwd: root,
      env: toolEnv({
        BINDINGS: JSON.stringify({ ...vars, ...secrets }),
        CI: "1",
        WRANGLER_REGISTRY_PATH: join(folder, "registry"),
        WRANGLER_LOG_PATH: join(folder, "logs"),
      }),
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    child = started;
    running.add(started);
    for (const stream of [started.stdout, started.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-200_000);
      });
    }
    const deadline = Date.now() + startTimeoutMs;
    while (!(await isHealthy(origin))) {
      if (started.exitCode !== null || Date.now() > deadline) {
        await kill();
        throw new Error(`The server did not start on ${origin}\n${output}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async function kill() {
    const killed = child;
    child = undefined;
    if (!killed) return;
    const ended =
      killed.exitCode !== null || killed.signalCode !== null
        ? Promise.resolve()
        : new Promise<void>((resolve) => killed.once("exit", () => resolve()));
    killGroup(killed);
    await ended;
    running.delete(killed);
    while (await isHealthy(origin)) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  await start();
  return {
    origin,
    port,
    state,
    secrets,
    kill,
    async restart(changes = {}) {
      await kill();
      Object.assign(secrets, changes); // both are bindings
      await start();
    },
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
    log: () => output,
  };
}

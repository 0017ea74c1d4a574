// Runs the project's tools with the project's own Node (the `node` package), regardless of the Node that started the
// script.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");
export const bin = join(root, "node_modules", ".bin");
const isWindows = process.platform === "win32";

/** Environment of every tool: local binaries first, no prompts, no telemetry. */
export function toolEnv(extra = {}) {
  return {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    // Wrangler is a file of many megabytes: a compile cache halves every start.
    NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "node"),
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_LOG_PATH: join(root, ".wrangler", "logs"),
    WRANGLER_HIDE_BANNER: "true",
    // Request traces and the storage explorer cost a fifth of each response and are not used.
    X_LOCAL_OBSERVABILITY: "false",
    X_LOCAL_EXPLORER: "false",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    ...extra,
  };
}

/**
 * Runs a command to its end. With `quiet` its output is captured instead of printed.
 * @param {string} command
 * @param {string[]} args
 * @param {{ quiet?: boolean, env?: Record<string, string>, input?: string }} [options]
 */
export function run(command, args, { quiet = false, env = {}, input } = {}) {
  const result = spawnSync(command, args, {
    cwd: root,
    env: toolEnv(env),
    encoding: "utf8",
    input,
    shell: isWindows,
    maxBuffer: 64 * 1024 * 1024,
    stdio: quiet ? "pipe" : [input === undefined ? "ignore" : "pipe", "inherit", "inherit"],
  });
  const output = `${result.stdout ?? ""}${result.stderr ?? ""}${result.error ?? ""}`;
  return { ok: result.status === 0, output };
}

/** Like `run` with `quiet`, but throws the output if the command fails. */
export function runOrThrow(command, args, options = {}) {
  const { ok, output } = run(command, args, { quiet: true, ...options });
  if (!ok) throw new Error(`${command} ${args.join(" ")} failed\n${output}`);
  return output;
}

/**
 * Like `run` with `quiet`, without blocking, so that commands can run side by side.
 * @param {string} command
 * @param {string[]} args
 * @returns {Promise<{ ok: boolean, output: string }>}
 */
export function runAsync(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: toolEnv(),
      shell: isWindows,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    child.on("error", (error) => resolve({ ok: false, output: `${output}${error}` }));
    child.on("close", (code) => resolve({ ok: code === 0, output }));
  });
}

/** Throws if the port is in use: another server would answer in our place. */
export async function requireFreePort(port) {
  const probe = createServer();
  await new Promise((resolve, reject) => {
    probe.once("error", () => reject(new Error(`Port ${port} is in use: stop what listens there or pass --port N.`)));
    probe.listen(port, "localhost", () => probe.close(resolve));
  });
}

/** Starts a long-running command; it stops with this process, and this process exits with it. */
export function runServer(command, args, env = {}) {
  const child = spawn(command, args, {
    cwd: root,
    env: toolEnv(env),
    stdio: ["ignore", "inherit", "inherit"],
    shell: isWindows,
  });
  let stopping = false;
  const stop = () => {
    stopping = true;
    child.kill("SIGTERM");
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);
  // npm does not forward SIGTERM: the server stops when npm has exited.
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== parent && stop(), 500).unref();
  child.on("exit", (code) => process.exit(stopping ? 0 : (code ?? 1)));
}

/**
 * Installs the locked packages unless node_modules is current. A linked node_modules belongs to another checkout and is
 * used as it is: `npm ci` would delete its content.
 */
export function installPackages() {
  const modules = join(root, "node_modules");
  const lock = join(root, "package-lock.json");
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) return;

  const stamp = join(modules, ".lock.sha256");
  const hash = createHash("sha256").update(readFileSync(lock)).digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return;

  // npm's own record is newer than the lock if npm was run by hand.
  const record = statSync(join(modules, ".package-lock.json"), { throwIfNoEntry: false });
  if (!record || record.mtimeMs < statSync(lock).mtimeMs) {
    console.log("Installing packages (once; about a minute)…");
    runOrThrow("npm", ["ci", "--no-progress", "--loglevel=error"]);
  }
  writeFileSync(stamp, hash);
}

import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

const read = (...path: string[]): string => readFileSync(join("/proc", ...path), "utf8");

/** Processes whose command line (arguments separated by NUL) contains `part`. */
function findProcesses(part: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return read(pid, "cmdline").includes(part);
    } catch {
      return false; // exited in the meantime
    }
  });
}

const readParentPid = (pid: string): string => /^PPid:\s*(\d+)/m.exec(read(pid, "status"))?.[1] ?? "";

function socketInodes(pid: string): Set<string> {
  const links = readdirSync(join("/proc", pid, "fd")).map((fd) => {
    try {
      return readlinkSync(join("/proc", pid, "fd", fd));
    } catch {
      return "";
    }
  });
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
}

/** Ports a process listens on, from Linux's table of TCP sockets (state 0A is LISTEN). */
function listeningPorts(pid: string): number[] {
  const inodes = socketInodes(pid);
  const lines = read("net", "tcp").trim().split("\n").slice(1);
  return lines.flatMap((line) => {
    const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
    return state === "0A" && inodes.has(inode) ? [Number.parseInt(local.split(":")[1] ?? "", 16)] : [];
  });
}

export type InnerServer = { origin: string; pid: string };

/**
 * Inner server of Wrangler's development server, which consists of two workerd processes: a proxy on the public port
 * and the product behind it. Its own address is closer to production, without a proxy. Undefined without Linux's /proc.
 */
export async function findInner(publicPort: number, healthPath: string): Promise<InnerServer | undefined> {
  if (!existsSync("/proc/net/tcp")) return undefined;
  const wranglers = new Set(findProcesses(`--port\0${publicPort}\0`));
  const runtimes = findProcesses("--socket-addr=entry=127.0.0.1:0").filter((pid) => wranglers.has(readParentPid(pid)));
  for (const pid of runtimes) {
    for (const port of listeningPorts(pid)) {
      const origin = `http://127.0.0.1:${port}`;
      const answer = await fetch(origin + healthPath, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
      if (answer?.ok) return { origin, pid };
    }
  }
  return undefined;
}

export const findInnerOrigin = async (publicPort: number, healthPath: string): Promise<string | undefined> =>
  (await findInner(publicPort, healthPath))?.origin;

const ticksPerSecond = 100; // Linux's USER_HZ, the same on every machine

/** CPU time of a process in milliseconds, on all cores, independent of other load. */
export function readCpuMs(pid: string): number {
  const [, rest = ""] = read(pid, "stat").split(/\) /);
  const [user = 0, system = 0] = rest.split(" ").slice(11, 13).map(Number);
  return ((user + system) / ticksPerSecond) * 1_000;
}

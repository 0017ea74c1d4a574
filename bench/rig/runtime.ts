import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
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

/** Runtime (workerd) of the server at this port. Undefined without Linux's /proc. */
export function findRuntimePid(publicPort: number): string | undefined {
  if (!existsSync("/proc/self/stat")) return undefined;
  const servers = new Set(findProcesses(`\0${publicPort}\0`));
  return findProcesses("--socket-addr=entry=").find((pid) => servers.has(readParentPid(pid)));
}

const readMegabytes = (pid: string, field: string): number =>
  Number(new RegExp(`^${field}:\\s*(\\d+)`, "m").exec(read(pid, "status"))?.[1] ?? Number.NaN) / 1_000;

/** Memory of a process, in megabytes. */
export const readMemoryMb = (pid: string): number => readMegabytes(pid, "VmRSS");

/** Most memory of a process since `resetPeakMemory`, in megabytes. */
export const readPeakMemoryMb = (pid: string): number => readMegabytes(pid, "VmHWM");

export const resetPeakMemory = (pid: string): void => writeFileSync(join("/proc", pid, "clear_refs"), "5");

const ticksPerSecond = 100; // Linux's USER_HZ, the same on every machine

/** CPU time of a process in milliseconds, on all cores, independent of other load. */
export function readCpuMs(pid: string): number {
  const [, rest = ""] = read(pid, "stat").split(/\) /);
  const [user = 0, system = 0] = rest.split(" ").slice(11, 13).map(Number);
  return ((user + system) / ticksPerSecond) * 1_000;
}

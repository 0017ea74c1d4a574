import { type ChildProcess, fork } from "node:child_process";
import { setPriority } from "node:os";
import type { AttackReport, Stage } from "./stage.ts";

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/**
 * A production server does not share a processor with its attacker: the lower priority leaves the attacker only the
 * time the product does not use.
 */
const priority = 10;
const endMs = 5_000;

/**
 * Runs one attack. Calls `onStart` when its set-up is done; resolves when its process has exited and all its sockets are
 * closed.
 */
export async function runAttack(stage: Stage, onStart: () => void): Promise<AttackReport> {
  const child = fork(new URL("client.ts", import.meta.url), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  running.add(child);
  if (child.pid !== undefined) setPriority(child.pid, priority);
  const report: AttackReport = { sent: 0, answered: 0, refused: 0, cut: 0, hashes: 0 };
  let kill: NodeJS.Timeout | undefined;
  child.on("message", (received) => {
    if (typeof received === "object") Object.assign(report, received);
    else {
      onStart();
      kill = setTimeout(() => child.kill("SIGKILL"), stage.seconds * 1_000 + endMs);
    }
  });
  const ended = new Promise<void>((resolve, reject) => child.once("exit", () => resolve()).once("error", reject));
  child.send(stage);
  await ended;
  clearTimeout(kill);
  running.delete(child);
  return report;
}

import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { measureBytes } from "./bytes";
import { measureCalls } from "./calls";
import { measureChatOpening } from "./chat-opening";
import { measureDelivery } from "./delivery";
import { measureFanOut } from "./fan-out";
import { measureFeed } from "./feed";
import { measureFirstScreen } from "./first-screen";
import { measureGroups } from "./groups";
import { measureHostile } from "./hostile";
import { measureLongChat } from "./long-chat";
import { measureMedia } from "./media";
import { measureMemory } from "./memory";
import { measureRows } from "./row-costs";
import { measureSize } from "./size";
import { printSection, type Section } from "./table";
import { measureTiming } from "./timing";

/** Each measures one thing from nothing and cleans up after itself, so that any of them can run alone. */
const subjects: Record<string, () => Promise<Section[]>> = {
  delivery: measureDelivery,
  "fan-out": measureFanOut,
  groups: measureGroups,
  rows: measureRows,
  bytes: measureBytes,
  size: measureSize,
  "first-screen": measureFirstScreen,
  "chat-opening": measureChatOpening,
  "long-chat": measureLongChat,
  media: measureMedia,
  calls: measureCalls,
  feed: measureFeed,
  memory: measureMemory,
  timing: measureTiming,
  hostile: measureHostile,
};

const reportPath = ".reports/bench.json";

export async function runSubjects(names: string[]): Promise<void> {
  const unknown = names.filter((name) => !Object.hasOwn(subjects, name));
  if (unknown.length > 0) {
    console.error(`No such subject: ${unknown.join(", ")}. There are: ${Object.keys(subjects).join(", ")}.`);
    process.exitCode = 1;
    return;
  }
  const report: Record<string, { seconds: number; loadBefore: number; sections: Section[] } | { failed: string }> = {};
  const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: availableParallelism(), node: process.version };
  console.log(`${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, everything on this machine.`);
  for (const name of names.length > 0 ? names : Object.keys(subjects)) {
    const loadBefore = loadavg()[0] ?? 0;
    console.log(`\n══ ${name} (load of this machine before: ${loadBefore.toFixed(1)})`);
    const started = performance.now();
    try {
      const sections = (await subjects[name]?.()) ?? [];
      for (const section of sections) printSection(section);
      report[name] = { seconds: Math.round((performance.now() - started) / 1000), loadBefore, sections };
    } catch (error) {
      console.error(error);
      report[name] = { failed: String(error) };
      process.exitCode = 1;
    }
  }
  mkdirSync(".reports", { recursive: true });
  writeFileSync(reportPath, `${JSON.stringify({ at: new Date().toISOString(), machine, report }, null, 2)}\n`);
  console.log(`\nSaved to ${reportPath}.`);
}

import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { printSection, type Section } from "./rig/table.ts";
import { measureBytes } from "./subjects/bytes.ts";
import { measureCalls } from "./subjects/calls.ts";
import { measureChatOpening } from "./subjects/chat-opening.ts";
import { measureDelivery } from "./subjects/delivery.ts";
import { measureFanOut } from "./subjects/fan-out.ts";
import { measureFeed } from "./subjects/feed.ts";
import { measureFirstScreen } from "./subjects/first-screen.ts";
import { measureGroups } from "./subjects/groups.ts";
import { measureLongChat } from "./subjects/history/long-chat.ts";
import { measureSearch } from "./subjects/history/search.ts";
import { measureHostile } from "./subjects/hostile.ts";
import { measureMedia } from "./subjects/media.ts";
import { measureMemory } from "./subjects/memory.ts";
import { measurePush } from "./subjects/push.ts";
import { measureRows } from "./subjects/row-costs.ts";
import { measureSize } from "./subjects/size.ts";
import { measureTiming } from "./subjects/timing/timing.ts";

/** Subjects; each starts from nothing and cleans up after itself, so that any of them can run alone. */
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
  search: measureSearch,
  media: measureMedia,
  calls: measureCalls,
  feed: measureFeed,
  push: measurePush,
  memory: measureMemory,
  timing: measureTiming,
  hostile: measureHostile,
};

export const subjectNames = Object.keys(subjects);

const reportPath = ".reports/bench.json";

export async function runSubjects(names: string[]): Promise<void> {
  const unknown = names.filter((name) => !Object.hasOwn(subjects, name));
  if (unknown.length > 0) {
    console.error(`No such subject: ${unknown.join(", ")}. There are: ${subjectNames.join(", ")}.`);
    process.exitCode = 1;
    return;
  }
  const report: Record<string, { seconds: number; loadBefore: number; sections: Section[] } | { failed: string }> = {};
  const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: availableParallelism(), node: process.version };
  console.log(`${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, everything on this machine.`);
  for (const name of names.length > 0 ? names : subjectNames) {
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

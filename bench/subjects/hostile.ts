import { runAttack } from "#bench/attacks/attacker.ts";
import { Bystanders, type Probe } from "#bench/attacks/bystanders.ts";
import { measureCosts } from "#bench/attacks/costs.ts";
import { measureFileAttacks } from "#bench/attacks/file-costs.ts";
import { frameAttacks } from "#bench/attacks/frame-attacks.ts";
import { httpAttacks } from "#bench/attacks/http-attacks.ts";
import { type AttackScene, makeScene, type Prepared, renewToken } from "#bench/attacks/scene.ts";
import { type AttackNeeds, type AttackReport, reconnectStorm } from "#bench/attacks/stage.ts";
import { buildProduct } from "#bench/rig/product.ts";
import { findRuntimePid, readMemoryMb } from "#bench/rig/runtime.ts";
import { median, percentile } from "#bench/rig/statistics.ts";
import type { Section } from "#bench/rig/table.ts";
import { type Server, startServer } from "#tests/support/server/server.ts";

/** Effect of one attacking client on others: latency of their messages and requests, idle and during the attack. */

const idleMs = 12_000;
const probesNeeded = 8;

type Outcome = {
  attack: string;
  report: AttackReport;
  idle: Probe[];
  attacked: Probe[];
  recoveredMs: number;
  grownMb: number;
};

const listOption = (name: string): string[] =>
  process.argv.flatMap((argument) => (argument.startsWith(`--${name}=`) ? [argument.slice(name.length + 3)] : []));
const readNumberOption = (name: string, otherwise: number): number => Number(listOption(name)[0] ?? otherwise);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Attacks whose names contain one of the words in `--attack=…`, or all. */
function listAttacks(): ({ name: string } & AttackNeeds)[] {
  const all: ({ name: string } & AttackNeeds)[] = [...frameAttacks, { name: reconnectStorm }, ...httpAttacks];
  const words = listOption("attack");
  const selected = all.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  if (selected.length > 0) return selected;
  throw new Error(`No such attack. There are:\n${all.map(({ name }) => `  ${name}`).join("\n")}`);
}

const listTimes = (probes: readonly Probe[], of: "ackMs" | "receivedMs" | "answeredMs"): number[] =>
  probes
    .filter(({ kind }) => (kind === "request") === (of === "answeredMs"))
    .map((probe) => probe[of] ?? Number.POSITIVE_INFINITY);

/**
 * Time until the bystanders are served normally again: the median of `probesNeeded` consecutive messages is at most
 * twice the idle median, or at most the idle 95th percentile. Infinity if that takes too long.
 */
async function waitUntilNormal(
  people: Bystanders,
  idle: readonly Probe[],
  from: number,
  waitMs: number,
): Promise<number> {
  const normal = listTimes(idle, "receivedMs");
  const limit = Math.max(2 * median(normal), percentile(normal, 0.95));
  while (performance.now() < from + waitMs) {
    const after = people.listProbes(from, Number.POSITIVE_INFINITY).filter(({ kind }) => kind === "message");
    for (let i = 0; i + probesNeeded <= after.length; i++) {
      if (median(listTimes(after.slice(i, i + probesNeeded), "receivedMs")) <= limit)
        return i === 0 ? 0 : (after[i]?.at ?? from) - from;
    }
    await pause(100);
  }
  return Number.POSITIVE_INFINITY;
}

const readMegabytes = (pid: string | undefined): number => (pid === undefined ? Number.NaN : readMemoryMb(pid));

async function measureAttack(server: Server, scene: AttackScene, { stage, needs }: Prepared): Promise<Outcome> {
  const runtime = findRuntimePid(server.port);
  const { origin } = server;
  const people = await Promise.all(
    scene.bystanders.map(async (person) => ({ ...person, origin, token: await renewToken(server, person) })),
  );
  const bystanders = new Bystanders(people, needs.isShared ? stage.shared : undefined);
  try {
    await bystanders.start();
    const warm = performance.now() + 1_000;
    await pause(1_000 + idleMs);
    let started = performance.now();
    const idle = bystanders.listProbes(warm, started - 500);
    const before = readMegabytes(runtime);
    const token = await renewToken(server, { ...scene.bystanders[0], ...stage.attacker } as (typeof people)[number]);
    const attacker = { ...stage.attacker, token };
    const report = await runAttack({ ...stage, attacker, origin, seconds: readNumberOption("seconds", 20) }, () => {
      started = performance.now();
    });
    const ended = performance.now();
    const recoveredMs = await waitUntilNormal(bystanders, idle, ended, readNumberOption("wait", 60) * 1_000);
    const grownMb = readMegabytes(runtime) - before;
    return {
      attack: stage.attack,
      report,
      idle,
      attacked: bystanders.listProbes(started, ended),
      recoveredMs,
      grownMb,
    };
  } finally {
    bystanders.stop();
  }
}

const formatMs = (ms: number): string => (Number.isFinite(ms) ? ms.toFixed(ms < 10 ? 1 : 0) : "never");

function toRow({ attack, report, idle, attacked, recoveredMs, grownMb }: Outcome): string[] {
  const compare = (kind: "ackMs" | "receivedMs" | "answeredMs"): string[] =>
    [0.5, 0.95].map((share) => {
      const [now, before] = [percentile(listTimes(attacked, kind), share), percentile(listTimes(idle, kind), share)];
      return Number.isFinite(now) ? `${formatMs(now)} (${(now / before).toFixed(1)}×)` : "never";
    });
  return [
    attack,
    String(report.sent),
    String(report.answered),
    String(report.refused),
    String(report.cut),
    String(report.hashes),
    ...compare("ackMs"),
    ...compare("receivedMs"),
    ...compare("answeredMs"),
    String(attacked.filter(({ isRefused }) => isRefused).length),
    Number.isFinite(recoveredMs) ? `${(recoveredMs / 1_000).toFixed(1)} s` : "never",
    `${Math.round(grownMb)} MB`,
  ];
}

/**
 * `--attack=…` measures only these attacks, `--files` or `--file=…` only hostile files or some of them, and `--costs` only
 * the costs.
 */
export async function measureHostile(): Promise<Section[]> {
  if (process.argv.includes("--costs")) return [await measureCosts()];
  const files = listOption("file");
  if (files.length > 0 || process.argv.includes("--files")) {
    buildProduct();
    return [await measureFileAttacks(files)];
  }
  const sections = [await measureAttacks(listAttacks())];
  if (listOption("attack").length > 0) return sections;
  return [...sections, await measureFileAttacks([]), await measureCosts()];
}

async function measureAttacks(wanted: readonly ({ name: string } & AttackNeeds)[]): Promise<Section> {
  buildProduct();
  // Production limits.
  const server = await startServer({ vars: { LOCAL_LIMIT_FACTOR: "1" } });
  try {
    const scene = await makeScene(server, wanted);
    const rows: string[][] = [];
    for (const prepared of scene.attacks) {
      const outcome = await measureAttack(server, scene, prepared);
      const row = toRow(outcome);
      console.log(row.join(" | "));
      rows.push(row);
      // Work that is still queued for the attacker must not affect the next measurement.
      if (!Number.isFinite(outcome.recoveredMs)) await server.restart();
    }
    return {
      title: "What one hostile client does to others: milliseconds, and how many times the idle figure",
      columns: [
        "",
        "sent",
        "answered",
        "refused",
        "cut",
        "hashes",
        "ack p50",
        "ack p95",
        "received p50",
        "received p95",
        "HTTP p50",
        "HTTP p95",
        "refused to others",
        "normal after",
        "server grew",
      ],
      rows,
      notes: [
        "Eight bystanders in pairs write to each other and use the app, a message and a request each every 150 ms together; where the attack is shared, in a group with the attacker. Idle is measured anew before each attack. Aim: at most 2×.",
        "The attacker is one account behind one address with 4 sockets or 32 requests at once (12 on shared numbers), in a process of lower priority; attempts with a proof of work come from an address each. Shared numbers are held by one account and claimed by three. hashes: those of passwords, as counted by the answers. never: not within the wait after the attack (60 s, --wait=…).",
      ],
    };
  } finally {
    await server.stop();
  }
}

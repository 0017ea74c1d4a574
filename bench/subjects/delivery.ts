import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeFloorRig } from "#bench/floors/relay.ts";
import { startRelayObject } from "#bench/floors/relay-object.ts";
import { Device } from "#bench/rig/device.ts";
import { makePair } from "#bench/rig/person.ts";
import { buildProduct } from "#bench/rig/product.ts";
import { createText, type DeliveryTimes, driveRig, parseRef, type Rig } from "#bench/rig/rig.ts";
import { computeRatio, median, percentile } from "#bench/rig/statistics.ts";
import { formatMilliseconds, formatRatio, type Section } from "#bench/rig/table.ts";
import { startServer } from "#tests/support/server/server.ts";

const rounds = 7;
const steady = { count: 100, atOnce: 1, gapMs: 20, warmUp: 50 };
const bursts = { count: 96, atOnce: 16, gapMs: 150, warmUp: 32 };

/** Complete path of the product between two people's sockets: command received, persisted, live frame sent. */
async function makeProductRig(name: string, origin: string): Promise<Rig> {
  const { a, b, conversation } = await makePair(origin);
  const from = await Device.connect(a);
  const to = await Device.connect(b, { reportsDelivery: true });
  const { handle } = await from.waitForRow(conversation);
  await to.waitForRow(conversation);
  return {
    name,
    send: (ref) => from.send(ref, handle, createText(ref)),
    onDelivered: (listener) => {
      to.onText = (_seq, text, at) => listener(parseRef(text), at);
    },
    onAcked: (listener) => {
      from.onAck = (ref, _seq, at) => listener(ref, at);
    },
    close: async () => {
      from.close();
      to.close();
    },
  };
}

type Figures = Record<"p50" | "p99" | "ackP50" | "ackP99", number[]>;

/** Drives every rig once per round, in rotating order, so that noise affects all alike. */
async function compareRigs(rigs: Rig[], plan: typeof steady): Promise<Map<Rig, Figures>> {
  const figures = new Map(rigs.map((rig) => [rig, { p50: [], p99: [], ackP50: [], ackP99: [] } as Figures]));
  let next = 0;
  const measure = async (rig: Rig, count: number): Promise<DeliveryTimes | undefined> => {
    if (!figures.has(rig)) return undefined;
    next += 1_000;
    try {
      return await driveRig(rig, next, count, plan.atOnce, plan.gapMs);
    } catch (error) {
      if (!rig.isExtra) throw error;
      console.warn("Left out of the comparison:", error);
      figures.delete(rig);
      return undefined;
    }
  };
  for (const rig of rigs) await measure(rig, plan.warmUp);
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < rigs.length; i++) {
      const rig = rigs[(i + round) % rigs.length] as Rig;
      const times = await measure(rig, plan.count);
      if (times) addTimes(figures.get(rig) as Figures, times);
    }
  }
  return figures;
}

function addTimes(figures: Figures, { delivery, ack }: DeliveryTimes): void {
  figures.p50.push(percentile(delivery, 0.5));
  figures.p99.push(percentile(delivery, 0.99));
  figures.ackP50.push(percentile(ack, 0.5));
  figures.ackP99.push(percentile(ack, 0.99));
}

function toSection(title: string, floor: Rig, results: Map<Rig, Figures>): Section {
  const floors = results.get(floor) as Figures;
  const rows = [...results].map(([rig, figures]) => {
    const against = (key: keyof Figures) => {
      const { ratio, low, high } = computeRatio(figures[key], floors[key]);
      return rig === floor ? "1" : `${formatRatio(ratio)} (${low.toFixed(1)}–${high.toFixed(1)})`;
    };
    return [
      rig.name,
      formatMilliseconds(median(figures.p50)),
      against("p50"),
      formatMilliseconds(median(figures.p99)),
      against("p99"),
      formatMilliseconds(median(figures.ackP50)),
      formatMilliseconds(median(figures.ackP99)),
    ];
  });
  const columns = ["", "p50", "p50 to floor", "p99", "p99 to floor", "ack p50", "ack p99"];
  return { title, columns, rows, notes: [] };
}

/** `ws` with the faster journal mode on this machine; the other one is only mentioned with its figure. */
async function makeDurableFloor(folder: string): Promise<{ rig: Rig; other: string }> {
  const wal = await makeFloorRig("ws + SQLite FULL, WAL = floor", "wal", join(folder, "wal.db"));
  const rollback = await makeFloorRig(
    "ws + SQLite FULL, rollback journal = floor",
    "rollback",
    join(folder, "rollback.db"),
  );
  const p50 = async (rig: Rig) => percentile((await driveRig(rig, 0, steady.count, 1, steady.gapMs)).delivery, 0.5);
  const medians = { wal: await p50(wal), rollback: await p50(rollback) };
  const [rig, slower] = medians.wal <= medians.rollback ? [wal, rollback] : [rollback, wal];
  await slower.close();
  return {
    rig,
    other: `WAL ${formatMilliseconds(medians.wal)}, rollback journal ${formatMilliseconds(medians.rollback)}`,
  };
}

export async function measureDelivery(): Promise<Section[]> {
  buildProduct();
  const folder = mkdtempSync(join(tmpdir(), "lisolo-bench-"));
  const stops: (() => Promise<void>)[] = [];
  const rigs: Rig[] = [];
  try {
    const server = await startServer();
    stops.push(server.stop);
    const object = await startRelayObject(folder);
    stops.push(object.stop);
    const { rig: floor, other } = await makeDurableFloor(folder);
    rigs.push(await makeFloorRig("ws in memory", "memory", ""), floor);
    rigs.push(await object.rig("one relaying object, one row", "row"));
    rigs.push(await makeProductRig("Lisolo", server.origin));
    const steadySection = toSection(
      "One message every 20 ms: A's command to B's frame",
      floor,
      await compareRigs(rigs, steady),
    );
    const burstSection = toSection("16 messages at once, every 150 ms", floor, await compareRigs(rigs, bursts));
    steadySection.notes.push(
      `Medians of ${rounds} rounds of ${steady.count} messages (at once: ${bursts.count}), all taken in turn; in brackets the least and greatest round.`,
      `The floor is one process, one durable commit per message, then the relay, then the ack; with the faster journal: p50 of ${other}.`,
      "B reports its receipts, which the floor does not. The relaying object, served by Wrangler, shows what the runtime takes by itself, and with it Wrangler's development proxy, another process that each frame crosses and that does not stand before Lisolo here. First aim: at most 2× at p50 and p99.",
    );
    return [steadySection, burstSection];
  } finally {
    for (const rig of rigs) await rig.close();
    for (const stop of stops) await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

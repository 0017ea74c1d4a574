import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../tests/support/server";
import { Device } from "./device";
import { makeFloorRig } from "./floors/relay";
import { makePair } from "./person";
import { buildProduct } from "./product";
import { drive, type Rig, refOf, type Times, textOf } from "./rig";
import { median, percentile, ratioOf } from "./statistics";
import { milliseconds, type Section, times } from "./table";

const rounds = 9;
const steady = { count: 100, atOnce: 1, gapMs: 20, warmUp: 50 };
const bursts = { count: 160, atOnce: 16, gapMs: 250, warmUp: 32 };

/** The whole product path between two people's sockets: commands in, persisted, live frames out. */
async function makeProductRig(origin: string): Promise<Rig> {
  const { a, b, conversation } = await makePair(origin);
  const from = await Device.connect(a);
  const to = await Device.connect(b, { reportsDelivery: true });
  const { handle } = await from.row(conversation);
  await to.row(conversation);
  return {
    name: "Lisolo",
    send: (ref) => from.send(ref, handle, textOf(ref)),
    onDelivered: (listener) => {
      to.onText = (_seq, text, at) => listener(refOf(text), at);
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

/** Every round drives every rig once, the order turning, so that a noisy moment hits all alike. */
async function compare(rigs: Rig[], plan: typeof steady): Promise<Map<Rig, Figures>> {
  const figures = new Map(rigs.map((rig) => [rig, { p50: [], p99: [], ackP50: [], ackP99: [] } as Figures]));
  let next = 0;
  for (const rig of rigs) await drive(rig, next, plan.warmUp, plan.atOnce, plan.gapMs);
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < rigs.length; i++) {
      const rig = rigs[(i + round) % rigs.length] as Rig;
      next += 1_000;
      add(figures.get(rig) as Figures, await drive(rig, next, plan.count, plan.atOnce, plan.gapMs));
    }
  }
  return figures;
}

function add(figures: Figures, { delivery, ack }: Times): void {
  figures.p50.push(percentile(delivery, 0.5));
  figures.p99.push(percentile(delivery, 0.99));
  figures.ackP50.push(percentile(ack, 0.5));
  figures.ackP99.push(percentile(ack, 0.99));
}

function toSection(title: string, rigs: Rig[], results: Map<Rig, Figures>): Section {
  const of = (rig: Rig) => results.get(rig) as Figures;
  const durable = rigs.filter((rig) => rig.name.includes("SQLite"));
  const floor = durable.reduce((best, rig) => (median(of(rig).p50) < median(of(best).p50) ? rig : best));
  const rows = rigs.map((rig) => {
    const figures = of(rig);
    const against = (key: keyof Figures) => {
      const { ratio, low, high } = ratioOf(figures[key], of(floor)[key]);
      return rig === floor ? "1" : `${times(ratio)} (${low.toFixed(1)}–${high.toFixed(1)})`;
    };
    return [
      rig === floor ? `${rig.name} = floor` : rig.name,
      milliseconds(median(figures.p50)),
      against("p50"),
      milliseconds(median(figures.p99)),
      against("p99"),
      milliseconds(median(figures.ackP50)),
      milliseconds(median(figures.ackP99)),
    ];
  });
  const columns = ["", "p50", "p50 to floor", "p99", "p99 to floor", "ack p50", "ack p99"];
  return { title, columns, rows, notes: [] };
}

export async function measureDelivery(): Promise<Section[]> {
  buildProduct();
  const folder = mkdtempSync(join(tmpdir(), "lisolo-bench-"));
  const server = await startServer();
  const rigs: Rig[] = [];
  try {
    rigs.push(await makeFloorRig("ws in memory", "memory", ""));
    rigs.push(await makeFloorRig("ws + SQLite FULL, WAL", "wal", join(folder, "wal.db")));
    rigs.push(await makeFloorRig("ws + SQLite FULL, rollback journal", "rollback", join(folder, "rollback.db")));
    rigs.push(await makeProductRig(server.origin));
    const calm = toSection("One message every 20 ms: A's command to B's frame", rigs, await compare(rigs, steady));
    const rough = toSection("16 messages at once, every 250 ms", rigs, await compare(rigs, bursts));
    calm.notes.push(
      `Medians of ${rounds} rounds of ${steady.count} messages (bursts: ${bursts.count}), the four taken in turn; in brackets the least and greatest round.`,
      "The floor is the faster of the two journals at p50: one process, one durable commit per message, then the relay, then the ack.",
      "Lisolo runs behind Wrangler's development proxy, another process each frame crosses twice, and B reports its receipts; the floor has neither. First aim: at most 2× at p50 and p99.",
    );
    return [calm, rough];
  } finally {
    for (const rig of rigs) await rig.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

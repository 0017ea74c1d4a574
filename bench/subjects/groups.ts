import { countRows } from "#bench/rig/count-rows.ts";
import {
  inFlightPerSender,
  makeFloorCrowd,
  measureModerateRate,
  measureSaturation,
  type SocketCrowd,
  senders,
} from "#bench/rig/crowd.ts";
import { Device } from "#bench/rig/device.ts";
import { callAs, type Person } from "#bench/rig/person.ts";
import { buildProduct } from "#bench/rig/product.ts";
import { createText, parseRef } from "#bench/rig/rig.ts";
import { computeRatio, median, percentile } from "#bench/rig/statistics.ts";
import { formatMilliseconds, formatRatio, type Section } from "#bench/rig/table.ts";
import type { NewGroup } from "#contract/groups.ts";
import { type ConversationId, createUuid } from "#contract/ids.ts";
import { seedUsers } from "#tests/support/server/seeded-users.ts";
import { startServer } from "#tests/support/server/server.ts";
import { toCostSection } from "./row-costs.ts";

/** Load on a group of this size, where each member has one socket. */
type Plan = { members: number; rounds: number; saturated: number; moderate: number };
const plans: Plan[] = [
  { members: 10, rounds: 5, saturated: 400, moderate: 50 },
  { members: 100, rounds: 5, saturated: 400, moderate: 50 },
  { members: 1_000, rounds: 3, saturated: 100, moderate: 30 },
];
const moderateGapMs = 100; // RELIABILITY's busy group: 100 messages in 10 s
const connectingAtOnce = 20;

async function connectAll(people: readonly Person[]): Promise<Device[]> {
  const devices: Device[] = [];
  for (let i = 0; i < people.length; i += connectingAtOnce) {
    const batch = people.slice(i, i + connectingAtOnce);
    devices.push(...(await Promise.all(batch.map((person) => Device.connect(person)))));
  }
  return devices;
}

/** Creates a group whose members listen on their existing sockets. */
async function makeGroupCrowd(people: readonly Person[], devices: readonly Device[]): Promise<SocketCrowd> {
  const [owner, ...others] = people;
  if (!owner) throw new Error("A group needs at least one person");
  const id: ConversationId = createUuid();
  const newGroup: NewGroup = { id, name: `Groupe de ${people.length}`, members: others.map((one) => one.id) };
  await callAs(owner, "POST", "/api/groups", newGroup);
  const rows = await Promise.all(devices.map((device) => device.waitForRow(id)));
  const crowd: SocketCrowd = {
    sockets: devices.length,
    send: (sender, ref) => devices[sender]?.send(ref, rows[sender]?.handle ?? 0, createText(ref)),
    onDelivered: () => {},
    onAcked: () => {},
    close: async () => {},
  };
  for (const [index, device] of devices.entries()) {
    device.onText = (_seq, text, at) => crowd.onDelivered(parseRef(text), at);
    device.onAck = (ref) => crowd.onAcked(index, ref);
  }
  return crowd;
}

type Figures = { rate: number[]; p50: number[]; p95: number[]; p99: number[] };

/** Alternates between floor and product in each round. */
async function compareCrowds(
  crowds: readonly SocketCrowd[],
  { rounds, saturated, moderate }: Plan,
): Promise<Figures[]> {
  const figures = crowds.map((): Figures => ({ rate: [], p50: [], p95: [], p99: [] }));
  let first = 0;
  for (let round = -1; round < rounds; round++) {
    for (const [i, crowd] of crowds.entries()) {
      first += 10_000;
      const rate = await measureSaturation(crowd, first, saturated);
      first += 10_000;
      const latencies = await measureModerateRate(crowd, first, moderate, moderateGapMs);
      const figuresOfCrowd = figures[i];
      if (round < 0 || !figuresOfCrowd) continue; // the first round warms up
      figuresOfCrowd.rate.push(rate);
      figuresOfCrowd.p50.push(percentile(latencies, 0.5));
      figuresOfCrowd.p95.push(percentile(latencies, 0.95));
      figuresOfCrowd.p99.push(percentile(latencies, 0.99));
    }
  }
  return figures;
}

function toRows(members: number, [floor, product]: Figures[]): string[][] {
  if (!floor || !product) return [];
  const { ratio, low, high } = computeRatio(product.rate, floor.rate);
  const row = (name: string, figuresOfCrowd: Figures, against: string) => [
    name,
    `${(median(figuresOfCrowd.rate) / 1000).toFixed(1)} k/s`,
    against,
    formatMilliseconds(median(figuresOfCrowd.p50)),
    formatMilliseconds(median(figuresOfCrowd.p95)),
    formatMilliseconds(median(figuresOfCrowd.p99)),
  ];
  return [
    row(`${members} sockets of ws in memory = floor`, floor, "1"),
    row(`Lisolo, ${members} members`, product, `${formatRatio(ratio)} (${low.toFixed(2)}–${high.toFixed(2)})`),
  ];
}

async function measureTimes(): Promise<Section> {
  buildProduct();
  const server = await startServer();
  const devices: Device[] = [];
  try {
    const accounts = await seedUsers(server, Math.max(...plans.map(({ members }) => members)));
    const people = accounts.map((account): Person => ({ ...account, origin: server.origin }));
    devices.push(...(await connectAll(people)));
    const rows: string[][] = [];
    for (const plan of plans) {
      const floor = await makeFloorCrowd(plan.members);
      try {
        const group = await makeGroupCrowd(people.slice(0, plan.members), devices.slice(0, plan.members));
        rows.push(...toRows(plan.members, await compareCrowds([floor, group], plan)));
      } finally {
        await floor.close();
      }
    }
    return {
      title: "Fan-out of a group, every member with one socket",
      columns: ["", "deliveries at saturation", "to floor", "moderate p50", "p95", "p99"],
      rows,
      notes: [
        `Every message is stored, told to each other member's channel, written there and pushed. Floor and product in turn, medians of ${plans.map(({ rounds }) => rounds).join(", ")} rounds, least and greatest in brackets.`,
        `Saturation: ${plans.map(({ saturated }) => saturated).join(", ")} messages by ${senders} senders with ${inFlightPerSender} each under way. Moderate: ${1000 / moderateGapMs} messages a second. All clients share one process here, and decode every frame; all objects share one thread and one disk.`,
        "Aims: at 100 members 7× the floor at saturation and a p99 of 20 ms; RELIABILITY F39: p95 of a group of 256 within 1 s.",
      ],
    };
  } finally {
    for (const device of devices) device.close();
    await server.stop();
  }
}

const costNote =
  "Requests are calls between Worker and objects, alarms that ran, and a twentieth for each frame from a device.";

export async function measureGroups(): Promise<Section[]> {
  const measured = await countRows("groups");
  const perMember = measured.map((one) => ({ ...one, per: one.per * Number.parseInt(one.name, 10) }));
  return [
    toCostSection("What a message to a group costs", measured, [
      "Counted until every alarm and everything written behind has happened.",
      costNote,
    ]),
    toCostSection("The same for each of its members", perMember, ["Aim: no more in a big group than in a small one."]),
    await measureTimes(),
  ];
}

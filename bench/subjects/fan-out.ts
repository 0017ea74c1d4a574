import {
  inFlightPerSender,
  makeFloorCrowd,
  measureModerateRate,
  measureSaturation,
  type SocketCrowd,
  senders,
} from "#bench/rig/crowd.ts";
import { Device } from "#bench/rig/device.ts";
import { makePair, type Person } from "#bench/rig/person.ts";
import { buildProduct } from "#bench/rig/product.ts";
import { createText, parseRef } from "#bench/rig/rig.ts";
import { computeRatio, median, percentile } from "#bench/rig/statistics.ts";
import { formatMilliseconds, formatRatio, type Section } from "#bench/rig/table.ts";
import { startServer } from "#tests/support/server/server.ts";

const sockets = 100;
const rounds = 5;
const saturated = { messages: 400 };
const moderate = { messages: 75, gapMs: 20 };

async function connectMany(person: Person, count: number): Promise<Device[]> {
  const devices: Device[] = [];
  while (devices.length < count) devices.push(await Device.connect(person));
  return devices;
}

async function makeProductCrowd(origin: string): Promise<SocketCrowd> {
  const { a, b, conversation } = await makePair(origin);
  // A and B alternate, so that both people send and each has half of the sockets. The product allows one person 30
  // sockets at once and then one every 2 s, which takes most of this subject's time.
  const [ofA, ofB] = await Promise.all([connectMany(a, sockets / 2), connectMany(b, sockets / 2)]);
  const all = ofA.flatMap((device, i) => [device, ofB[i] as Device]);
  const handles = await Promise.all(
    all.slice(0, senders).map(async (device) => (await device.waitForRow(conversation)).handle),
  );
  const crowd: SocketCrowd = {
    sockets,
    send: (sender, ref) => all[sender]?.send(ref, handles[sender] ?? 0, createText(ref)),
    onDelivered: () => {},
    onAcked: () => {},
    close: async () => {
      for (const device of all) device.close();
    },
  };
  for (const [index, device] of all.entries()) {
    device.onText = (_seq, text, at) => crowd.onDelivered(parseRef(text), at);
    device.onAck = (ref) => crowd.onAcked(index, ref);
  }
  return crowd;
}

export async function measureFanOut(): Promise<Section[]> {
  buildProduct();
  const server = await startServer();
  const crowds: { name: string; crowd: SocketCrowd }[] = [];
  try {
    const served = await Promise.all([
      makeFloorCrowd(sockets).then((crowd) => ({ name: "ws in memory = floor", crowd })),
      makeProductCrowd(server.origin).then((crowd) => ({ name: "Lisolo", crowd })),
    ]);
    crowds.push(...served);
    const rates = crowds.map((): number[] => []);
    const p50 = crowds.map((): number[] => []);
    const p99 = crowds.map((): number[] => []);
    let first = 0;
    for (let round = -1; round < rounds; round++) {
      for (const [i, { crowd }] of crowds.entries()) {
        first += 10_000;
        const rate = await measureSaturation(crowd, first, saturated.messages);
        first += 10_000;
        const latencies = await measureModerateRate(crowd, first, moderate.messages, moderate.gapMs);
        if (round < 0) continue; // the first round warms up
        rates[i]?.push(rate);
        p50[i]?.push(percentile(latencies, 0.5));
        p99[i]?.push(percentile(latencies, 0.99));
      }
    }
    const rows = crowds.map(({ name }, i) => {
      const { ratio, low, high } = computeRatio(rates[i] ?? [], rates[0] ?? []);
      return [
        name,
        `${(median(rates[i] ?? []) / 1000).toFixed(1)} k/s`,
        i === 0 ? "1" : `${formatRatio(ratio)} (${low.toFixed(1)}–${high.toFixed(1)})`,
        formatMilliseconds(median(p50[i] ?? [])),
        formatMilliseconds(median(p99[i] ?? [])),
      ];
    });
    const notes = [
      `One private chat, 2 people with ${sockets / 2} sockets each; every message goes to the other ${sockets - 1} and is acknowledged. Medians of ${rounds} rounds taken in turn, least and greatest in brackets.`,
      `Saturation: ${saturated.messages} messages by ${senders} senders with ${inFlightPerSender} each under way. Moderate: ${1000 / moderate.gapMs} messages a second. All 100 clients share one process here, and decode every frame. Aim: at least 3×.`,
    ];
    const columns = ["", "deliveries at saturation", "to floor", "moderate p50", "moderate p99"];
    return [{ title: "Fan-out of one conversation with 100 sockets", columns, rows, notes }];
  } finally {
    for (const { crowd } of crowds) await crowd.close();
    await server.stop();
  }
}

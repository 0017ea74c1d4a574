import type WebSocket from "ws";
import { startServer } from "../tests/support/server";
import { Device } from "./device";
import { connectToFloor, floorFrame, startFloor } from "./floors/relay";
import { findInnerOrigin } from "./inner-origin";
import { makePair, type Person } from "./person";
import { buildProduct } from "./product";
import { refOf, textOf } from "./rig";
import { median, percentile, ratioOf } from "./statistics";
import { milliseconds, type Section, times } from "./table";

const sockets = 100;
const senders = 4;
const inFlightEach = 16; // contract/limits.ts outboxWindow
const rounds = 5;
const saturated = { messages: 400 };
const moderate = { messages: 75, gapMs: 20 };

/** A conversation with many sockets; `send` uses one of its senders. */
type Crowd = {
  send(sender: number, ref: number): void;
  onDelivered: (ref: number, at: number) => void;
  onAcked: (sender: number, ref: number) => void;
  close(): Promise<void>;
};

async function makeFloorCrowd(): Promise<Crowd> {
  const floor = await startFloor("memory", "");
  const all: WebSocket[] = [];
  for (let i = 0; i < sockets; i++) all.push(await connectToFloor(floor));
  const crowd: Crowd = {
    send: (sender, ref) => all[sender]?.send(floorFrame(ref)),
    onDelivered: () => {},
    onAcked: () => {},
    close: async () => {
      for (const socket of all) socket.terminate();
      await floor.stop();
    },
  };
  for (const [index, socket] of all.entries()) {
    socket.on("message", (data) => {
      const at = performance.now();
      const frame = JSON.parse(data.toString()) as [string, number, number, string];
      if (frame[0] === "a") crowd.onAcked(index, frame[1]);
      else crowd.onDelivered(refOf(frame[3]), at);
    });
  }
  return crowd;
}

async function connectMany(person: Person, count: number): Promise<Device[]> {
  const devices: Device[] = [];
  while (devices.length < count) devices.push(await Device.connect(person));
  return devices;
}

async function makeProductCrowd(origin: string): Promise<Crowd> {
  const { a, b, conversation } = await makePair(origin);
  // A and B by turns, so that both people send and both have half of the sockets. The product lets one person open
  // 30 sockets at once and then one every 2 s, which is what most of this subject's time is spent on.
  const [ofA, ofB] = await Promise.all([connectMany(a, sockets / 2), connectMany(b, sockets / 2)]);
  const all = ofA.flatMap((device, i) => [device, ofB[i] as Device]);
  const handles = await Promise.all(
    all.slice(0, senders).map(async (device) => (await device.row(conversation)).handle),
  );
  const crowd: Crowd = {
    send: (sender, ref) => all[sender]?.send(ref, handles[sender] ?? 0, textOf(ref)),
    onDelivered: () => {},
    onAcked: () => {},
    close: async () => {
      for (const device of all) device.close();
    },
  };
  for (const [index, device] of all.entries()) {
    device.onText = (_seq, text, at) => crowd.onDelivered(refOf(text), at);
    device.onAck = (ref) => crowd.onAcked(index, ref);
  }
  return crowd;
}

const giveUpMs = 60_000;

/** Resolves with the deliveries' times once each of `count` messages reached the other 99 sockets. */
function collect(crowd: Crowd, first: number, count: number, sentAt: Float64Array): Promise<number[]> {
  const latencies: number[] = [];
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`${latencies.length} of ${count * (sockets - 1)} delivered`)),
      giveUpMs,
    );
    crowd.onDelivered = (ref, at) => {
      const sent = sentAt[ref - first];
      if (sent === undefined || sent === 0) return;
      latencies.push(at - sent);
      if (latencies.length < count * (sockets - 1)) return;
      clearTimeout(timer);
      resolve(latencies);
    };
  });
}

/** As fast as it goes with four senders that each keep 16 unacknowledged messages under way: deliveries per second. */
async function saturate(crowd: Crowd, first: number): Promise<number> {
  const { messages } = saturated;
  const sentAt = new Float64Array(messages);
  const delivered = collect(crowd, first, messages, sentAt);
  let next = 0;
  const sendNext = (sender: number) => {
    if (next >= messages) return;
    sentAt[next] = performance.now();
    crowd.send(sender, first + next++);
  };
  crowd.onAcked = sendNext;
  const started = performance.now();
  for (let i = 0; i < inFlightEach; i++) for (let sender = 0; sender < senders; sender++) sendNext(sender);
  await delivered;
  return (messages * (sockets - 1) * 1000) / (performance.now() - started);
}

/** 50 messages a second, one sender after the other: how long each of the 99 deliveries took. */
async function trickle(crowd: Crowd, first: number): Promise<number[]> {
  const { messages, gapMs } = moderate;
  const sentAt = new Float64Array(messages);
  const delivered = collect(crowd, first, messages, sentAt);
  crowd.onAcked = () => {};
  const started = performance.now();
  for (let i = 0; i < messages; i++) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(1, started + i * gapMs - performance.now())));
    sentAt[i] = performance.now();
    crowd.send(i % senders, first + i);
  }
  return delivered;
}

export async function measureFanOut(): Promise<Section[]> {
  buildProduct();
  const server = await startServer();
  const crowds: { name: string; crowd: Crowd }[] = [];
  try {
    const inner = await findInnerOrigin(server.port, "/api/health");
    const served = await Promise.all([
      makeFloorCrowd().then((crowd) => ({ name: "ws in memory = floor", crowd })),
      makeProductCrowd(server.origin).then((crowd) => ({ name: "Lisolo", crowd })),
      ...(inner
        ? [makeProductCrowd(inner).then((crowd) => ({ name: "Lisolo without the development proxy", crowd }))]
        : []),
    ]);
    crowds.push(...served);
    const rates = crowds.map((): number[] => []);
    const p50 = crowds.map((): number[] => []);
    const p99 = crowds.map((): number[] => []);
    let first = 0;
    for (let round = -1; round < rounds; round++) {
      for (const [i, { crowd }] of crowds.entries()) {
        first += 10_000;
        const rate = await saturate(crowd, first);
        first += 10_000;
        const latencies = await trickle(crowd, first);
        if (round < 0) continue; // the first round warms up
        rates[i]?.push(rate);
        p50[i]?.push(percentile(latencies, 0.5));
        p99[i]?.push(percentile(latencies, 0.99));
      }
    }
    const rows = crowds.map(({ name }, i) => {
      const { ratio, low, high } = ratioOf(rates[i] ?? [], rates[0] ?? []);
      return [
        name,
        `${(median(rates[i] ?? []) / 1000).toFixed(1)} k/s`,
        i === 0 ? "1" : `${times(ratio)} (${low.toFixed(1)}–${high.toFixed(1)})`,
        milliseconds(median(p50[i] ?? [])),
        milliseconds(median(p99[i] ?? [])),
      ];
    });
    const notes = [
      `One private chat, 2 people with ${sockets / 2} sockets each; every message goes to the other ${sockets - 1} and is acknowledged. Medians of ${rounds} rounds taken in turn, least and greatest in brackets.`,
      `Saturation: ${saturated.messages} messages by ${senders} senders with ${inFlightEach} each under way. Moderate: ${1000 / moderate.gapMs} messages a second. All 100 clients share one process here, and decode every frame. Aim: at least 3×.`,
    ];
    const columns = ["", "deliveries at saturation", "to floor", "moderate p50", "moderate p99"];
    return [{ title: "Fan-out of one conversation with 100 sockets", columns, rows, notes }];
  } finally {
    for (const { crowd } of crowds) await crowd.close();
    await server.stop();
  }
}

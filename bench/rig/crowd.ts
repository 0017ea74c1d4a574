import type WebSocket from "ws";
import { connectToFloor, floorFrame, startFloor } from "#bench/floors/relay.ts";
import { parseRef } from "./rig.ts";

export const senders = 4;
export const inFlightPerSender = 16; // outboxWindow of contract/limits/messages.ts

/** Conversation with many sockets; `send` uses one of its senders. Every message goes to all other sockets. */
export type SocketCrowd = {
  sockets: number;
  send(sender: number, ref: number): void;
  onDelivered: (ref: number, at: number) => void;
  onAcked: (sender: number, ref: number) => void;
  close(): Promise<void>;
};

/** Floor for every crowd: sockets of one `ws` process without storage. */
export async function makeFloorCrowd(sockets: number): Promise<SocketCrowd> {
  const floor = await startFloor("memory", "");
  const all: WebSocket[] = [];
  for (let i = 0; i < sockets; i++) all.push(await connectToFloor(floor));
  const crowd: SocketCrowd = {
    sockets,
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
      else crowd.onDelivered(parseRef(frame[3]), at);
    });
  }
  return crowd;
}

const deliveryTimeoutMs = 60_000;

/** Resolves with the delivery times once each of `count` messages reached all other sockets. */
function collectLatencies(crowd: SocketCrowd, first: number, count: number, sentAt: Float64Array): Promise<number[]> {
  const latencies: number[] = [];
  const all = count * (crowd.sockets - 1);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${latencies.length} of ${all} delivered`)), deliveryTimeoutMs);
    crowd.onDelivered = (ref, at) => {
      const sent = sentAt[ref - first];
      if (sent === undefined || sent === 0) return;
      latencies.push(at - sent);
      if (latencies.length < all) return;
      clearTimeout(timer);
      resolve(latencies);
    };
  });
}

/** Maximum throughput with four senders that each keep 16 unacknowledged messages in flight: deliveries per second. */
export async function measureSaturation(crowd: SocketCrowd, first: number, messages: number): Promise<number> {
  const sentAt = new Float64Array(messages);
  const delivered = collectLatencies(crowd, first, messages, sentAt);
  let next = 0;
  const sendNext = (sender: number) => {
    if (next >= messages) return;
    sentAt[next] = performance.now();
    crowd.send(sender, first + next++);
  };
  crowd.onAcked = sendNext;
  const started = performance.now();
  for (let i = 0; i < inFlightPerSender; i++) for (let sender = 0; sender < senders; sender++) sendNext(sender);
  await delivered;
  return (messages * (crowd.sockets - 1) * 1000) / (performance.now() - started);
}

/** Sends a message every `gapMs`, alternating senders; returns the delivery times. */
export async function measureModerateRate(
  crowd: SocketCrowd,
  first: number,
  messages: number,
  gapMs: number,
): Promise<number[]> {
  const sentAt = new Float64Array(messages);
  const delivered = collectLatencies(crowd, first, messages, sentAt);
  crowd.onAcked = () => {};
  const started = performance.now();
  for (let i = 0; i < messages; i++) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(1, started + i * gapMs - performance.now())));
    sentAt[i] = performance.now();
    crowd.send(i % senders, first + i);
  }
  return delivered;
}

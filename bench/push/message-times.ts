import { createText } from "#bench/rig/rig.ts";
import { computeRatio, median } from "#bench/rig/statistics.ts";
import { formatMilliseconds, formatRatio, type Section } from "#bench/rig/table.ts";
import { pushPauseMs } from "#contract/limits/push.ts";
import { encryptLike, type PushScene, readClock, type Sender, toPath } from "./scene.ts";

const rounds = 20;
const sendTimeoutMs = 30_000;

/** Milliseconds from the sender's command, or from the floor's request to the push service. */
type MessageTimes = {
  acknowledged: number;
  /** When the push service had the complete request. */
  requested: number;
  /** When the service worker had the push event. */
  received: number;
  shown: number;
};

const newestPush = ({ service }: PushScene) => {
  const push = service.received.at(-1);
  if (!push) throw new Error("The push service received nothing");
  return push;
};

/** Sends a text to the phone's owner. Resolves with the time of the acknowledgement. */
const sendText = ({ device, handle }: Sender, ref: number, text: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("A message was not acknowledged")), sendTimeoutMs);
    device.onAck = (acknowledged) => {
      if (acknowledged !== ref) return;
      clearTimeout(timer);
      resolve(readClock());
    };
    device.send(ref, handle, text);
  });

/** Waits until a message of the next sender is pushed at once. */
const waitForPause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, pushPauseMs + 100));

async function measureProduct(scene: PushScene, ref: number): Promise<MessageTimes> {
  const sender = scene.senders[ref % scene.senders.length];
  if (!sender) throw new Error("Nobody sends");
  const sentAt = readClock();
  const acknowledged = sendText(sender, ref, createText(ref));
  const { receivedAt, shownAt } = await scene.product.records.take();
  return {
    acknowledged: (await acknowledged) - sentAt,
    requested: newestPush(scene).at - sentAt,
    received: receivedAt - sentAt,
    shown: shownAt - sentAt,
  };
}

/** A request of the same size to the same push service, for the floor's service worker. */
async function measureFloor(scene: PushScene): Promise<MessageTimes> {
  const { bare, service } = scene;
  const body = await encryptLike(bare.subscription, newestPush(scene));
  const sentAt = readClock();
  const response = await fetch(service.relay + toPath(bare.subscription), {
    method: "POST",
    body: new Uint8Array(body),
  });
  const acknowledged = readClock() - sentAt;
  if (response.status !== 201) throw new Error(`The push service answered ${response.status}`);
  // The product's pushes have to stay the newest.
  const requested = service.received.pop()?.at ?? Number.NaN;
  const { receivedAt, shownAt } = await bare.records.take();
  return { acknowledged, requested: requested - sentAt, received: receivedAt - sentAt, shown: shownAt - sentAt };
}

/** Time from a message to the notification on a phone whose app is closed, in turn with the floor. */
export async function measureMessageTimes(scene: PushScene): Promise<Section> {
  const [floor, product]: [MessageTimes[], MessageTimes[]] = [[], []];
  for (let ref = -2; ref < rounds; ref++) {
    await waitForPause();
    const measures = [
      async () => void product.push(await measureProduct(scene, ref + 3)),
      async () => void (ref > -2 && floor.push(await measureFloor(scene))),
    ];
    for (const measure of ref % 2 === 0 ? measures : measures.reverse()) await measure();
    if (ref < 0) for (const times of [floor, product]) times.splice(0); // these rounds warm up
  }
  const getTimes = (times: readonly MessageTimes[], key: keyof MessageTimes) => times.map((one) => one[key]);
  const against = (key: keyof MessageTimes) => {
    const { ratio, low, high } = computeRatio(getTimes(product, key), getTimes(floor, key));
    return `${formatRatio(ratio)} (${low.toFixed(1)}–${high.toFixed(1)})`;
  };
  const toRow = (name: string, times: readonly MessageTimes[], ratios: (key: keyof MessageTimes) => string) => [
    name,
    formatMilliseconds(median(getTimes(times, "acknowledged"))),
    formatMilliseconds(median(getTimes(times, "requested"))),
    formatMilliseconds(median(getTimes(times, "received"))),
    ratios("received"),
    formatMilliseconds(median(getTimes(times, "shown"))),
    ratios("shown"),
  ];
  return {
    title: "A message to a phone whose app is closed",
    columns: ["", "acknowledged", "at push service", "push event", "to floor", "notification", "to floor"],
    rows: [toRow(scene.bare.name, floor, () => "1"), toRow(scene.product.name, product, against)],
    notes: [
      `Medians of ${rounds} rounds, floor and product in turn; in brackets the least and greatest round. The service workers run already; their start is in the last table.`,
      "Lisolo: from the sender's command on the socket to the acknowledgement, to the request at the local push service, to the push event in the closed app's service worker, and until the browser has taken the notification. Floor: from a request of the same size to the same push service, for a service worker of the same browser that shows each push and does nothing else.",
      "A makers' push service and the way to the phone come on top of both, and a phone in deep sleep may add minutes: neither can be measured here. Aim: within 1 s.",
    ],
  };
}

/** Bytes that a push costs the server, by the length of the text. */
export async function measurePushBytes(scene: PushScene): Promise<Section> {
  const lengths = [1, 20, 70, 160, 1_000, 8_000];
  const rows: string[][] = [];
  for (const [n, length] of lengths.entries()) {
    await waitForPause();
    const sender = scene.senders[n % scene.senders.length];
    if (!sender) continue;
    await sendText(sender, 1_000 + n, "Mbote na yo. ".repeat(length).slice(0, length));
    await scene.product.records.take();
    const { path, headers, body } = newestPush(scene);
    const lines = [`POST ${path} HTTP/1.1`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), ""];
    const head = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 2, 0);
    rows.push([`${length} letters`, String(body.length), String(head), String(head + body.length)]);
  }
  return {
    title: "Bytes of a push",
    columns: ["text", "encrypted body", "request head", "request"],
    rows,
    notes: [
      "Over HTTP/1.1 to the local push service, with its short endpoint; real endpoints have up to 200 bytes more. The device receives the body and what its maker adds.",
      "Bodies are padded to steps of 256 bytes, so that the push service learns little of the length. Longer texts are cut as in the list of conversations.",
    ],
  };
}

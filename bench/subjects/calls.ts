import { buildProduct } from "#bench/rig/product.ts";
import { median } from "#bench/rig/statistics.ts";
import { formatKilobytes, formatRatio, type Section } from "#bench/rig/table.ts";
import { ringBaseline } from "#lab/baseline-call.ts";
import {
  inCall,
  measureAccept,
  measureBandwidthDrop,
  measurePicture,
  measureSwitch,
  measureVoiceQuality,
  mobile,
  pause,
  toLinkShape,
} from "#lab/measures.ts";
import type { TrafficByLink } from "#lab/network/network.ts";
import { type Product, startProduct } from "#lab/product-call.ts";
import { startRelay } from "#lab/programs/coturn.ts";
import { listMissingRequirements } from "#lab/requirements.ts";
import { type LabCall, type MakeCall, openScene, type Scene, serverAddress } from "#lab/scene.ts";
import { measureUnanswered, type UnansweredTimes } from "./unanswered-call.ts";

const rounds = 3;
const talkSeconds = 28; // two turns of each
const bandwidthDrops = 2;

const columns = ["", "baseline", "Lisolo", "", "aim"];
const seconds = (ms: number): string => (Number.isFinite(ms) ? `${(ms / 1000).toFixed(2)} s` : "never");
const share = (value: number): string => `${(value * 100).toFixed(1)} %`;
const formatRange = (values: readonly number[]): string =>
  `${seconds(Math.min(...values))}–${seconds(Math.max(...values))}`;
const formatRatioTo = (figure: number, floor: number): string =>
  Number.isFinite(figure) && Number.isFinite(floor) ? formatRatio(figure / floor) : "";

type Pair = { baseline: MakeCall; product: MakeCall };

/** Runs each round with the baseline and with the product, alternating. */
async function alternate<T>({ baseline, product }: Pair, count: number, measure: (make: MakeCall) => Promise<T>) {
  const results: { baseline: T[]; product: T[] } = { baseline: [], product: [] };
  for (let round = 0; round < count; round++) {
    results.baseline.push(await measure(baseline));
    results.product.push(await measure(product));
  }
  return results;
}

const toTimeRow = (name: string, results: { baseline: number[]; product: number[] }, aim: string): string[] => {
  const [baseline, product] = [median(results.baseline), median(results.product)];
  return [
    name,
    seconds(baseline),
    `${seconds(product)} (${formatRange(results.product)})`,
    formatRatioTo(product, baseline),
    aim,
  ];
};

/** The later of both sides. */
const maxOf = (sides: readonly (number | undefined)[]): number =>
  Math.max(...sides.map((ms) => ms ?? Number.POSITIVE_INFINITY));

async function measureDirectAccept(scene: Scene, product: Product): Promise<string[][]> {
  const pair = { baseline: ringBaseline, product: product.ring };
  const direct = await alternate(pair, rounds, async (make) =>
    maxOf((await measureAccept(scene, make, {}, mobile)).heard),
  );
  const seen = await alternate(pair, rounds, async (make) => maxOf(await measurePicture(scene, make, {}, mobile)));
  return [
    toTimeRow("accepted → both heard, direct", direct, "≤ 1.0 s"),
    toTimeRow("accepted → both seen, direct", seen, ""),
  ];
}

async function measureRelayed(scene: Scene): Promise<string[][]> {
  const relay = await startRelay(scene.server, serverAddress);
  const product = await startProduct(relay);
  try {
    const pair = { baseline: ringBaseline, product: product.ring };
    const results = await alternate(pair, rounds, async (make) =>
      maxOf((await measureAccept(scene, make, { relay }, mobile)).heard),
    );
    return [toTimeRow("accepted → both heard, relayed", results, "≤ 1.8 s")];
  } finally {
    await product.stop();
  }
}

const countTcpBytes = (traffics: TrafficByLink): number =>
  Object.entries(traffics)
    .filter(([link]) => link.startsWith("calle"))
    .reduce((sum, [, { out, in: into }]) => sum + out.bytes - out.udp + into.bytes - into.udp, 0);

/** Traffic of both people, from starting the call until five seconds after it was accepted. */
async function countSignalling(scene: Scene, product: Product): Promise<Section> {
  const count = async (call: LabCall) => {
    const before = countTcpBytes(await scene.network.readTraffic());
    await call.ring();
    await call.accept();
    await pause(5_000);
    return countTcpBytes(await scene.network.readTraffic()) - before;
  };
  const baseline = await inCall(scene, ringBaseline, {}, count);
  const call = await inCall(scene, product.ring, {}, async (call) => {
    const before = call.frames();
    const bytes = await count(call);
    const after = call.frames();
    return {
      bytes,
      frames: `${after.sent - before.sent} / ${after.received - before.received}`,
      characters: after.characters - before.characters,
      roundTrips: after.roundTrips - before.roundTrips,
    };
  });
  return {
    title: "Traffic of a voice call with the server, both people together, until five seconds after it was accepted",
    columns: ["", "baseline", "Lisolo"],
    rows: [
      ["TCP on the wire", formatKilobytes(baseline), formatKilobytes(call.bytes)],
      ["frames sent / received", "", call.frames],
      ["characters in them", "", formatKilobytes(call.characters)],
      ["round trips", "", `${call.roundTrips}`],
    ],
    notes: [
      "Once. The wire has HTTP and what else goes over TCP meanwhile; the product's frames its receipts and beats too.",
      "Round trips at most: frames but pings, of which many are under way at once, and questions by HTTP.",
    ],
  };
}

const toUnansweredRow = ({ missedMs, shownMs }: UnansweredTimes): string[] => [
  "unanswered → missed, by the server; shown to the caller",
  "",
  `${seconds(missedMs)}; ${seconds(shownMs)}`,
  "",
  "30.0 ± 0.2 s",
];

async function measureTimes(): Promise<Section[]> {
  const scene = await openScene("always");
  const product = await startProduct();
  const pair = { baseline: ringBaseline, product: product.ring };
  try {
    const rows = await measureDirectAccept(scene, product);
    const gaps = await alternate(pair, rounds, async (make) => {
      const { gaps, isOneWay } = await measureSwitch(scene, make, toLinkShape({ roundTrip: 300 }));
      return isOneWay ? Number.POSITIVE_INFINITY : Math.max(...gaps);
    });
    rows.push(toTimeRow("silence at a change of network, the longer of both", gaps, "≤ 3.5 s"));
    const fallen = await alternate(pair, bandwidthDrops, (make) => measureBandwidthDrop(scene, make, 48));
    const of = (name: "videoOffMs" | "cleanMs") => ({
      baseline: fallen.baseline.map((fall) => fall[name] ?? Number.POSITIVE_INFINITY),
      product: fallen.product.map((fall) => fall[name] ?? Number.POSITIVE_INFINITY),
    });
    rows.push(toTimeRow("link drops to 48 kbit/s → no video sent", of("videoOffMs"), "≤ 2 s"));
    rows.push(toTimeRow("link drops to 48 kbit/s → clean voice", of("cleanMs"), "≤ 10 s"));
    rows.push(toUnansweredRow(await measureUnanswered(scene, product)));
    const signalling = await countSignalling(scene, product);
    await product.stop();
    rows.splice(1, 0, ...(await measureRelayed(scene)));
    return [
      {
        title: "Calls: how long things take",
        columns,
        rows,
        notes: [
          `Medians (and range) of ${rounds} rounds each, ${bandwidthDrops} of the dropping link; one of the unanswered call. Between any two ends 300 ms there and back, and for accepting a call 1 % loss and 400 kbit/s.`,
          "The baseline pages connect when the call is accepted, with the browser's default settings, and restart ICE after a failure.",
        ],
      },
      signalling,
    ];
  } finally {
    await product.stop();
    await scene.stop();
  }
}

async function measureVoice(): Promise<Section> {
  const scene = await openScene("half");
  const product = await startProduct();
  const measureNetwork = async (shape: Parameters<typeof toLinkShape>[0]) => {
    const measure = (make: MakeCall) => measureVoiceQuality(scene, make, toLinkShape(shape), { seconds: talkSeconds });
    return { baseline: await measure(ringBaseline), product: await measure(product.ring) };
  };
  try {
    const clean = await measureNetwork({});
    const lossy = await measureNetwork({ loss: 0.05 });
    const bad = await measureNetwork({ loss: 0.2 });
    const narrow = await measureNetwork({ rate: 48 });
    const row = (name: string, of: (side: "baseline" | "product") => [number, string], aim: string): string[] => {
      const [[baselineFigure, baselineText], [figure, text]] = [of("baseline"), of("product")];
      return [name, baselineText, text, formatRatioTo(figure, baselineFigure), aim];
    };
    const megabytes = (value: number): [number, string] => [value, `${value.toFixed(2)} MB`];
    const concealed = ({ concealment }: (typeof bad)["baseline"]): [number, string] => {
      const worse = Math.max(...concealment);
      return [worse, share(worse)];
    };
    const extra = (side: "baseline" | "product") => share(lossy[side].megabytes / clean[side].megabytes - 1);
    return {
      title: "Voice, each of both talking half of the time",
      columns,
      rows: [
        row("a minute, both ways", (side) => megabytes(clean[side].megabytes), "≤ 0.30 MB"),
        row("a minute at 5 % loss", (side) => megabytes(lossy[side].megabytes), ""),
        ["… more than without loss", extra("baseline"), extra("product"), "", "≤ 10 %"],
        row("concealed at 20 % loss, the worse side", (side) => concealed(bad[side]), "≤ 6 %"),
        row("a minute at 20 % loss", (side) => megabytes(bad[side].megabytes), ""),
        row("concealed at 48 kbit/s, the worse side", (side) => concealed(narrow[side]), "≤ 2 %"),
      ],
      notes: [
        `Once each, ${talkSeconds} s after ten to settle in. Headers of IP included; concealed silence is not counted.`,
      ],
    };
  } finally {
    await product.stop();
    await scene.stop();
  }
}

export async function measureCalls(): Promise<Section[]> {
  const missing = listMissingRequirements();
  if (missing.length > 0) {
    return [{ title: "Calls: not measured", columns: ["needed"], rows: missing.map((name) => [name]), notes: [] }];
  }
  buildProduct();
  return [...(await measureTimes()), await measureVoice()];
}

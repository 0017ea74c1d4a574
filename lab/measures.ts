import type { Page } from "@playwright/test";
import type { Shape, TrafficByLink } from "./network/network.ts";
import {
  computeConcealment,
  computeLoss,
  listSilences,
  type MediaTotals,
  readTotals,
  waitForSound,
  waitForVideo,
} from "./pages/watch.ts";
import type { CallOptions, LabCall, MakeCall, Scene } from "./scene.ts";

const firstMediaTimeoutMs = 30_000;

/** Conditions of one link for a path between two nodes: each node's link contributes half. */
export const toLinkShape = ({ roundTrip = 0, loss = 0, rate = 0 }): Shape => ({
  delay: roundTrip / 4,
  loss: 1 - Math.sqrt(1 - loss),
  rate,
});
export const mobile = toLinkShape({ roundTrip: 300, loss: 0.01, rate: 400 });
const openNetwork: Shape = { delay: 0, loss: 0, rate: 0, udp: true, tcpPorts: [], up: true };

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

type BothSides<T> = [caller: T, callee: T];
const measureBoth = async <T>(pages: BothSides<Page>, measure: (page: Page) => Promise<T>): Promise<BothSides<T>> => [
  await measure(pages[0]),
  await measure(pages[1]),
];

/** Runs `action` in a call that rings on an open network, and restores the network afterwards. */
export async function inCall<C extends LabCall, T>(
  scene: Scene,
  make: (scene: Scene, options: CallOptions) => Promise<C>,
  options: CallOptions,
  action: (call: C) => Promise<T>,
): Promise<T> {
  await scene.shapeAll(openNetwork);
  const call = await make(scene, options);
  try {
    return await action(call);
  } finally {
    await scene.shapeAll(openNetwork);
    await call.end();
    for (const { node } of scene.sides) node.resetLinks();
  }
}

/** Milliseconds from accepting a call until media arrives on each side; undefined after half a minute. */
async function waitForMedia(call: LabCall, first = waitForSound): Promise<BothSides<number | undefined>> {
  const at = await call.accept();
  const times = await Promise.all(call.pages.map((page) => first(page, at, firstMediaTimeoutMs)));
  const [caller, callee] = times.map((moment) => (moment === undefined ? undefined : moment - at));
  return [caller, callee];
}

export const measureAccept = (scene: Scene, make: MakeCall, options: CallOptions, shape: Shape) =>
  inCall(scene, make, options, async (call) => {
    await scene.shapeAll(shape);
    await call.ring();
    const heard = await waitForMedia(call);
    await pause(1_000);
    return { heard, totals: await measureBoth(call.pages, readTotals) };
  });

/** Same, until each side sees the other. */
export const measurePicture = (scene: Scene, make: MakeCall, options: CallOptions, shape: Shape) =>
  inCall(scene, make, { ...options, hasVideo: true }, async (call) => {
    await scene.shapeAll(shape);
    await call.ring();
    return waitForMedia(call, waitForVideo);
  });

/** Both directions on the caller's links, IP headers included. */
const countUdpBytes = (traffics: TrafficByLink): number =>
  Object.entries(traffics)
    .filter(([link]) => link.startsWith("caller."))
    .reduce((sum, [, { out, in: into }]) => sum + out.udp + into.udp, 0);

export type VoiceQuality = {
  /** Share of concealed samples among those played, without the silence between words. */
  concealment: BothSides<number>;
  loss: BothSides<number>;
  energy: BothSides<number>;
  /** Megabytes per minute, both directions. */
  megabytes: number;
};

/** Voice quality during `seconds` on a network, after time to adapt. */
export const measureVoiceQuality = (
  scene: Scene,
  make: MakeCall,
  shape: Shape,
  { seconds = 20, settle = 10, ...options }: CallOptions & { seconds?: number; settle?: number } = {},
): Promise<VoiceQuality> =>
  inCall(scene, make, options, async (call) => {
    await call.ring();
    if ((await waitForMedia(call)).includes(undefined)) throw new Error("No sound arrived");
    await scene.shapeSides(shape);
    await pause(settle * 1_000);
    const [before, sent] = [await measureBoth(call.pages, readTotals), await scene.network.readTraffic()];
    const started = performance.now();
    await pause(seconds * 1_000);
    const [after, sentThen] = [await measureBoth(call.pages, readTotals), await scene.network.readTraffic()];
    const minutes = (performance.now() - started) / 60_000;
    return {
      concealment: [computeConcealment(before[0], after[0]), computeConcealment(before[1], after[1])],
      loss: [computeLoss(before[0], after[0]), computeLoss(before[1], after[1])],
      energy: [after[0].energy - before[0].energy, after[1].energy - before[1].energy],
      megabytes: (countUdpBytes(sentThen) - countUdpBytes(sent)) / 1e6 / minutes,
    };
  });

const switchMs = 500;
const gapMinMs = 250;
const steadyMs = 4_000;

/** Longest silence of each side when the callee's phone loses its wifi and gets a mobile link half a second later. */
export const measureSwitch = (scene: Scene, make: MakeCall, shape: Shape, options: CallOptions = {}) =>
  inCall(scene, make, options, async (call) => {
    await scene.shapeAll(shape);
    await call.ring();
    await waitForMedia(call);
    await pause(steadyMs);
    const { node } = scene.sides[1];
    const since = Date.now();
    node.disconnect("wifi");
    await pause(switchMs);
    node.connect("mobile");
    const resumed = await Promise.all(
      call.pages.map((page) => waitForSound(page, since + 2 * switchMs, firstMediaTimeoutMs)),
    );
    await pause(steadyMs);
    const until = Date.now();
    const gaps = await measureBoth(call.pages, async (page) =>
      Math.max(0, ...(await listSilences(page, since, until, gapMinMs)).map(([from, to]) => to - from)),
    );
    return { gaps, isOneWay: resumed.includes(undefined), totals: await measureBoth(call.pages, readTotals) };
  });

const sampleIntervalMs = 250;
const windowSamples = 4;
const cleanShare = 0.05;

export type BandwidthDropResult = {
  videoOffMs: number | undefined;
  cleanMs: number | undefined;
  /**
   * Retransmitted video and padding of both sides, later than a second after the last picture; undefined if video
   * continues.
   */
  lateBytes: number | undefined;
  concealment: number;
};

/** Time after which the condition always holds; undefined if it never does. */
const findStableSince = (samples: readonly boolean[]): number | undefined => {
  const last = samples.lastIndexOf(false);
  return last === samples.length - 1 ? undefined : (last + 1) * sampleIntervalMs;
};

/**
 * Limits both links to `rate` in the middle of a video call: time until no video is sent any more, and until the voice
 * is clean.
 */
export const measureBandwidthDrop = (
  scene: Scene,
  make: MakeCall,
  rate: number,
  watchMs = 20_000, // after this many good seconds the product tries video again
): Promise<BandwidthDropResult & { hadVideo: boolean }> =>
  inCall(scene, make, { hasVideo: true }, async (call) => {
    const start = toLinkShape({ roundTrip: 100, rate: 1_500 });
    await scene.shapeAll(start);
    await call.ring();
    await waitForMedia(call);
    await pause(15_000);
    const before = await measureBoth(call.pages, readTotals);
    await scene.shapeSides({ ...start, rate });
    const samples: BothSides<MediaTotals>[] = [before];
    const fallen = Date.now();
    while (Date.now() - fallen < watchMs) {
      await pause(Math.max(0, fallen + samples.length * sampleIntervalMs - Date.now()));
      samples.push(await measureBoth(call.pages, readTotals));
    }
    const sides = [0, 1] as const;
    const isOff = samples.map(
      (sample, n) => n > 0 && sides.every((side) => sample[side].framesSent === samples[n - 1]?.[side].framesSent),
    );
    const isClean = samples.map((sample, n) => {
      const from = samples[Math.max(0, n - windowSamples)] ?? sample;
      return (
        n > 0 &&
        sides.every(
          (side) =>
            sample[side].samples > from[side].samples && computeConcealment(from[side], sample[side]) < cleanShare,
        )
      );
    });
    const [end, half] = [samples.at(-1), samples[Math.floor(samples.length / 2)]];
    if (!end || !half) throw new Error("There are no samples");
    const videoOffMs = findStableSince(isOff.slice(1));
    const afterwards = videoOffMs === undefined ? undefined : samples[videoOffMs / sampleIntervalMs + windowSamples];
    return {
      hadVideo: sides.every((side) => before[side].framesSent > 0),
      videoOffMs,
      lateBytes:
        afterwards &&
        sides.reduce<number>((sum, side) => sum + end[side].videoBytesSent - afterwards[side].videoBytesSent, 0),
      cleanMs: findStableSince(isClean.slice(1)),
      concealment: Math.max(...sides.map((side) => computeConcealment(half[side], end[side]))),
    };
  });

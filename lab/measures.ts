import type { Page } from "@playwright/test";
import type { Shape, Traffics } from "./network/network.ts";
import { concealmentOf, firstHeard, firstSeen, lossOf, silencesOf, type Totals, totalsOf } from "./pages/watch.ts";
import type { CallOptions, LabCall, MakeCall, Scene } from "./scene.ts";

const patienceMs = 30_000;

/** What happens to each packet between any two ends, of which each has a link: half of it on either. */
export const pathOf = ({ roundTrip = 0, loss = 0, rate = 0 }): Shape => ({
  delay: roundTrip / 4,
  loss: 1 - Math.sqrt(1 - loss),
  rate,
});
export const mobile = pathOf({ roundTrip: 300, loss: 0.01, rate: 400 });
const open: Shape = { delay: 0, loss: 0, rate: 0, udp: true, tcpPorts: [], up: true };

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

type Both<T> = [caller: T, callee: T];
const both = async <T>(pages: Both<Page>, of: (page: Page) => Promise<T>): Promise<Both<T>> => [
  await of(pages[0]),
  await of(pages[1]),
];

/** Rings on an open network, then does `deed`, and puts everything back. */
export async function inCall<C extends LabCall, T>(
  scene: Scene,
  make: (scene: Scene, options: CallOptions) => Promise<C>,
  options: CallOptions,
  deed: (call: C) => Promise<T>,
): Promise<T> {
  await scene.shapeAll(open);
  const call = await make(scene, options);
  try {
    return await deed(call);
  } finally {
    await scene.shapeAll(open);
    await call.leave();
    for (const { end } of scene.sides) end.goBack();
  }
}

/** The milliseconds from the tap that takes a call until something comes to each side; undefined: not in half a minute. */
async function takeCall(call: LabCall, first = firstHeard): Promise<Both<number | undefined>> {
  const at = await call.accept();
  const came = await Promise.all(call.pages.map((page) => first(page, at, patienceMs)));
  const [caller, callee] = came.map((moment) => (moment === undefined ? undefined : moment - at));
  return [caller, callee];
}

export const measureAccept = (scene: Scene, make: MakeCall, options: CallOptions, shape: Shape) =>
  inCall(scene, make, options, async (call) => {
    await scene.shapeAll(shape);
    await call.ring();
    const heard = await takeCall(call);
    await pause(1_000);
    return { heard, totals: await both(call.pages, totalsOf) };
  });

/** The same until each side sees the other. */
export const measurePicture = (scene: Scene, make: MakeCall, options: CallOptions, shape: Shape) =>
  inCall(scene, make, { ...options, hasVideo: true }, async (call) => {
    await scene.shapeAll(shape);
    await call.ring();
    return takeCall(call, firstSeen);
  });

/** Both ways over the caller's links, headers of IP included. */
const udpOf = (traffics: Traffics): number =>
  Object.entries(traffics)
    .filter(([link]) => link.startsWith("caller."))
    .reduce((sum, [, { out, in: into }]) => sum + out.udp + into.udp, 0);

export type Talk = {
  /** Of what was played, the share that was made up, the silence between words left out. */
  concealment: Both<number>;
  loss: Both<number>;
  energy: Both<number>;
  /** Megabytes a minute, both ways. */
  megabytes: number;
};

/** How a call fares for `seconds` on such a network, after it had time to get used to it. */
export const measureTalk = (
  scene: Scene,
  make: MakeCall,
  shape: Shape,
  { seconds = 20, settle = 10, ...options }: CallOptions & { seconds?: number; settle?: number } = {},
): Promise<Talk> =>
  inCall(scene, make, options, async (call) => {
    await call.ring();
    if ((await takeCall(call)).includes(undefined)) throw new Error("nobody was heard");
    await scene.shapeSides(shape);
    await pause(settle * 1_000);
    const [before, sent] = [await both(call.pages, totalsOf), await scene.network.traffic()];
    const started = performance.now();
    await pause(seconds * 1_000);
    const [after, sentThen] = [await both(call.pages, totalsOf), await scene.network.traffic()];
    const minutes = (performance.now() - started) / 60_000;
    return {
      concealment: [concealmentOf(before[0], after[0]), concealmentOf(before[1], after[1])],
      loss: [lossOf(before[0], after[0]), lossOf(before[1], after[1])],
      energy: [after[0].energy - before[0].energy, after[1].energy - before[1].energy],
      megabytes: (udpOf(sentThen) - udpOf(sent)) / 1e6 / minutes,
    };
  });

const switchMs = 500;
const gapLeastMs = 250;
const steadyMs = 4_000;

/** The longest silence of each side when the callee's phone leaves its wifi and has a mobile link half a second later. */
export const measureSwitch = (scene: Scene, make: MakeCall, shape: Shape, options: CallOptions = {}) =>
  inCall(scene, make, options, async (call) => {
    await scene.shapeAll(shape);
    await call.ring();
    await takeCall(call);
    await pause(steadyMs);
    const { end } = scene.sides[1];
    const since = Date.now();
    end.disconnect("wifi");
    await pause(switchMs);
    end.connect("mobile");
    const resumed = await Promise.all(call.pages.map((page) => firstHeard(page, since + 2 * switchMs, patienceMs)));
    await pause(steadyMs);
    const until = Date.now();
    const gaps = await both(call.pages, async (page) =>
      Math.max(0, ...(await silencesOf(page, since, until, gapLeastMs)).map(([from, to]) => to - from)),
    );
    return { gaps, isOneWay: resumed.includes(undefined), totals: await both(call.pages, totalsOf) };
  });

const lookMs = 250;
const windowLooks = 4;
const cleanShare = 0.05;

export type Fall = {
  videoOffMs: number | undefined;
  cleanMs: number | undefined;
  /** Of old pictures and padding, by both, later than a second after the last picture; undefined where they go on. */
  lateBytes: number | undefined;
  concealment: number;
};

/** The first moment after which everything stays so; undefined when it never does. */
const lastly = (looks: readonly boolean[]): number | undefined => {
  const last = looks.lastIndexOf(false);
  return last === looks.length - 1 ? undefined : (last + 1) * lookMs;
};

/** In the middle of a video call both links carry only so much: when no picture is sent any more, and the voice is clean. */
export const measureFall = (
  scene: Scene,
  make: MakeCall,
  rate: number,
  watchMs = 20_000, // after as many good seconds the product tries pictures again
): Promise<Fall & { hadVideo: boolean }> =>
  inCall(scene, make, { hasVideo: true }, async (call) => {
    const start = pathOf({ roundTrip: 100, rate: 1_500 });
    await scene.shapeAll(start);
    await call.ring();
    await takeCall(call);
    await pause(15_000);
    const before = await both(call.pages, totalsOf);
    await scene.shapeSides({ ...start, rate });
    const looks: Both<Totals>[] = [before];
    const fallen = Date.now();
    while (Date.now() - fallen < watchMs) {
      await pause(Math.max(0, fallen + looks.length * lookMs - Date.now()));
      looks.push(await both(call.pages, totalsOf));
    }
    const sides = [0, 1] as const;
    const isOff = looks.map(
      (look, n) => n > 0 && sides.every((side) => look[side].framesSent === looks[n - 1]?.[side].framesSent),
    );
    const isClean = looks.map((look, n) => {
      const from = looks[Math.max(0, n - windowLooks)] ?? look;
      return (
        n > 0 &&
        sides.every(
          (side) => look[side].samples > from[side].samples && concealmentOf(from[side], look[side]) < cleanShare,
        )
      );
    });
    const [end, half] = [looks.at(-1), looks[Math.floor(looks.length / 2)]];
    if (!end || !half) throw new Error("nothing was seen");
    const videoOffMs = lastly(isOff.slice(1));
    const afterwards = videoOffMs === undefined ? undefined : looks[videoOffMs / lookMs + windowLooks];
    return {
      hadVideo: sides.every((side) => before[side].framesSent > 0),
      videoOffMs,
      lateBytes:
        afterwards &&
        sides.reduce<number>((sum, side) => sum + end[side].pictureBytes - afterwards[side].pictureBytes, 0),
      cleanMs: lastly(isClean.slice(1)),
      concealment: Math.max(...sides.map((side) => concealmentOf(half[side], end[side]))),
    };
  });

import { median } from "#bench/rig/statistics.ts";
import { formatMilliseconds, formatRatio, type Section } from "#bench/rig/table.ts";
import { encryptLike, type PushScene, readClock, type SubscribedWorker, toPath } from "./scene.ts";

const rounds = 9;
const slowFactor = 6;
const restMs = 300; // until a worker that has handled a push stands still

/** Milliseconds from the push service's write to the browser's connection. */
type WorkerTimes = { received: number; shown: number; ended: number };
type Measured = { worker: SubscribedWorker; factor: number; isStopped: boolean; times: WorkerTimes[] };

const rest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, restMs));

/** Delivers a push directly from the push service, without a server. */
async function deliver(scene: PushScene, { subscription, records }: SubscribedWorker, body: Buffer) {
  const sentAt = readClock();
  const status = scene.service.repeat({ path: toPath(subscription), body });
  if (status !== 201) throw new Error(`The push service answered ${status}`);
  const { workerStartedAt, receivedAt, shownAt, endedAt } = await records.take();
  return { isStarted: workerStartedAt >= sentAt, sentAt, receivedAt, shownAt, endedAt };
}

async function measureOnce(scene: PushScene, { worker, factor, isStopped, times }: Measured, body: Buffer) {
  if (isStopped) await scene.phone.stopWorkers();
  else await deliver(scene, worker, body); // the worker runs afterwards
  await rest();
  const { isStarted, sentAt, ...at } = await scene.phone.slowDown(factor, () => deliver(scene, worker, body));
  if (isStarted !== isStopped)
    throw new Error(`${worker.name}: the worker ${isStarted ? "had been stopped" : "still ran"}`);
  times.push({ received: at.receivedAt - sentAt, shown: at.shownAt - sentAt, ended: at.endedAt - sentAt });
}

/** Start and work of the service worker for a push, beside one that only shows it, also on a slow processor. */
export async function measureWorkerTimes(scene: PushScene): Promise<Section> {
  const push = scene.service.received.at(-1);
  if (!push) throw new Error("The push service received nothing");
  const bodies = new Map([
    [scene.bare, await encryptLike(scene.bare.subscription, push)],
    [scene.product, push.body],
  ]);
  const all: Measured[] = [1, slowFactor].flatMap((factor) =>
    [true, false].flatMap((isStopped) =>
      [scene.bare, scene.product].map((worker) => ({ worker, factor, isStopped, times: [] })),
    ),
  );
  for (let round = -1; round < rounds; round++) {
    for (const one of round % 2 === 0 ? all : [...all].reverse()) {
      await measureOnce(scene, one, bodies.get(one.worker) ?? push.body);
      if (round < 0) one.times.splice(0);
    }
  }
  const getMedian = ({ times }: Measured, toMs: (one: WorkerTimes) => number) => median(times.map(toMs));
  const rows = all.map((one) => {
    const floor = all.find(
      (other) => other.worker === scene.bare && other.factor === one.factor && other.isStopped === one.isStopped,
    );
    const shown = getMedian(one, (times) => times.shown);
    return [
      `${one.worker.name}, ${one.isStopped ? "stopped" : "running"}, processor ${one.factor}× slower`.replace(
        ", processor 1× slower",
        "",
      ),
      formatMilliseconds(getMedian(one, ({ received }) => received)),
      formatMilliseconds(getMedian(one, (times) => times.shown - times.received)),
      formatMilliseconds(shown),
      floor && floor !== one ? formatRatio(shown / getMedian(floor, (times) => times.shown)) : "1",
      formatMilliseconds(getMedian(one, ({ ended }) => ended)),
    ];
  });
  return {
    title: "A push in the service worker",
    columns: ["", "push event", "then shown", "notification", "to floor", "done"],
    rows,
    notes: [
      `Medians of ${rounds} rounds, all in turn, from the push service's write to the browser's connection; the same encrypted push as the server's last one, and one of the same size for the floor. A stopped worker is started for it. "Done": until the worker has nothing left to do.`,
      `Slower processor: all processes of the browser run for 2 of every ${2 * slowFactor} ms, so a time is uncertain by one pause. DevTools refuse to throttle service workers, and throttling a page does not reach them.`,
      "Lisolo shows an icon and a badge, which the browser takes from its cache before it shows a notification; the floor has none.",
    ],
  };
}

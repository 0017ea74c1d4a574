import { measureMessageTimes, measurePushBytes } from "#bench/push/message-times.ts";
import { openPushScene } from "#bench/push/scene.ts";
import { measureWorkerTimes } from "#bench/push/worker-times.ts";
import { countRows } from "#bench/rig/count-rows.ts";
import { buildProduct } from "#bench/rig/product.ts";
import type { Section } from "#bench/rig/table.ts";
import { toCostSection } from "./row-costs.ts";

/** Web Push: what a pushed message costs, its bytes, and the times until it is shown on a phone whose app is closed. */
export async function measurePush(): Promise<Section[]> {
  const costs = toCostSection("What a pushed message costs", await countRows("push"), [
    "Counted until every alarm and everything written behind has happened. An alarm set counts as a row written too and is in both columns. Requests are calls between Worker and objects, alarms that ran, and a twentieth for each frame from a device; each push is one more request of the object, to a push service.",
    "Aim: no more rows than a message to somebody who is away and has no subscription.",
  ]);
  buildProduct();
  const scene = await openPushScene();
  try {
    return [costs, await measureMessageTimes(scene), await measurePushBytes(scene), await measureWorkerTimes(scene)];
  } finally {
    await scene.stop();
  }
}

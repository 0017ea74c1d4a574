import * as v from "valibot";
import { callAs } from "#bench/rig/person.ts";
import { Call } from "#contract/calls/call.ts";
import { callRingMs } from "#contract/limits/calls.ts";
import { inCall } from "#lab/measures.ts";
import type { Product } from "#lab/product-call.ts";
import type { Scene } from "#lab/scene.ts";
import { textsOf } from "#tests/support/browser/test-client.ts";

export type UnansweredTimes = {
  /** By the server's clock, from the start of the call until its log entry was written. */
  missedMs: number;
  /** From the caller's tap until the caller sees the result. */
  shownMs: number;
};

const Open = v.object({ calls: v.array(Call) });
const Newest = v.object({
  messages: v.array(
    v.object({ at: v.number(), body: v.object({ type: v.literal("call"), status: v.literal("missed") }) }),
  ),
});

/** A call that nobody answers. */
export const measureUnanswered = (scene: Scene, product: Product): Promise<UnansweredTimes> =>
  inCall(scene, product.ring, {}, async (one) => {
    const { pages, people, conversation } = one;
    const caller = { ...people[0], origin: product.server.origin };
    await one.ring();
    const tapped = await pages[0].evaluate(() => labWatcher.clicks.at(-1) ?? Number.NaN);
    const [open] = v.parse(Open, await callAs(caller, "GET", "/api/calls")).calls;
    if (!open) throw new Error("The call was not found");
    const said = pages[0].getByText(textsOf.fr.calls.say.unanswered, { exact: true }).first();
    await said.waitFor({ timeout: 2 * callRingMs });
    const shownMs = Date.now() - tapped;
    const newest = await callAs(caller, "GET", `/api/conversations/${conversation}/messages?limit=1`);
    const [line] = v.parse(Newest, newest).messages;
    return { missedMs: (line?.at ?? Number.NaN) - open.created_at, shownMs };
  });

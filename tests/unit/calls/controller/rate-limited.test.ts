import { expect, it, vi } from "vitest";
import { unansweredMs } from "#contract/limits/calls.ts";
import { expectQuiet, makeCallPair } from "#tests/support/model/call-pair.ts";

it("a caller over the rate limit is informed at once, not after fifteen seconds", async () => {
  const { time, server, a, b, chat, ben, anaBrowser } = await makeCallPair();
  const execute = vi.spyOn(server, "execute").mockReturnValue({ error: "rate_limited", retryAfterMs: unansweredMs });
  a.dial(chat, ben);
  await time.pass(1_500);
  expect(a.callNotices).toMatchObject([{ notice: "failed", error: "rate_limited" }]);
  // There is nothing to end either, because no call began.
  await time.pass(4_000);
  expect(execute).toHaveBeenCalledOnce();
  expectQuiet(a, b);
  expect([...anaBrowser.memory.keys()]).toEqual(["device"]);
});

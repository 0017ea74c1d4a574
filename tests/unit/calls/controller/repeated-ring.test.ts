import { expect, it } from "vitest";
import type { CallView } from "#calls/views.ts";
import { makeCallPair } from "#tests/support/model/call-pair.ts";

it("a call of the same caller right after a dismissed call is shown", async () => {
  const { time, a, b, connectCall, chat, ana } = await makeCallPair();
  await connectCall();
  a.controller.setMinimized(true);
  a.controller.handleUserAction({ type: "hangUp" });
  a.controller.setMinimized(true); // The tap came too late.
  await time.pass(500);
  b.dial(chat, ana);
  await time.pass(500);
  expect(a.view).toMatchObject({ state: { phase: "ringing" }, isMinimized: false });
});

it("a ringing call shows nothing of the call before it", async () => {
  const { time, a, b, connectCall, chat, ben } = await makeCallPair();
  await connectCall();
  b.media?.reportDataUse(5_000_000);
  b.controller.handleUserAction({ type: "hangUp" });
  await time.pass(500);
  expect(b.view?.media).toMatchObject({ mic: "on", bytes: 5_000_000 });
  a.dial(chat, ben);
  const shown: CallView[] = [];
  for (let ms = 0; ms < 600; ms += 2) {
    await time.pass(2);
    if (b.view?.state.phase === "ringing") shown.push(b.view);
  }
  expect(shown.length).toBeGreaterThan(0);
  for (const { media } of shown) expect(media).toMatchObject({ mic: "waiting", bytes: 0 });
});

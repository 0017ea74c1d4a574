import { expect, it } from "vitest";
import { expectQuiet, makeCallPair } from "#tests/support/model/call-pair.ts";

const second = 1_000;

it("a call whose tab is closed continues in another tab of the browser, with sound but not shown", async () => {
  const { time, benBrowser, a, b, connectCall, ana } = await makeCallPair();
  const other = await benBrowser.openTab();
  await connectCall("video");
  expect(other.controller.otherTab.view).toMatchObject({
    call: { peer: ana, kind: "video", isCaller: false },
    isGone: false,
  });
  await time.pass(5 * second);
  expect(other.controller.otherTab.view?.isGone).toBe(false);
  other.controller.otherTab.resume(); // While its tab is open, the call stays there.
  await time.pass(3 * second);
  expect([b.phase, other.phase]).toEqual(["connected", "idle"]);

  b.kill();
  await time.pass(1 * second);
  expect(other.controller.otherTab.view?.isGone).toBe(false);
  await time.pass(2 * second);
  expect(other.controller.otherTab.view?.isGone).toBe(true);
  other.controller.otherTab.resume();
  expect(other.controller.otherTab.view).toBeUndefined();
  await time.pass(3 * second);
  expect([a.phase, other.phase]).toEqual(["connected", "connected"]);
  expect(other.media?.preferenceHistory).toEqual([{ isMuted: false, isCameraOn: false, takesPictures: true }]);
  other.controller.handleUserAction({ type: "hangUp" });
  await time.pass(5 * second);
  expectQuiet(a, other);
});

it("data usage from before its tab was closed is counted in the tab where the call continues", async () => {
  const { time, benBrowser, b, connectCall } = await makeCallPair();
  const other = await benBrowser.openTab();
  await connectCall("video");
  b.media?.reportDataUse(2_700_000);
  await time.pass(20 * second);
  b.kill();
  await time.pass(3 * second);
  other.controller.otherTab.resume();
  await time.pass(3 * second);
  other.media?.reportDataUse(100_000);
  expect(other.view?.media.bytes).toBe(2_800_000);
});

it("a reloaded page resumes its call, whatever other tabs are open", async () => {
  const { time, benBrowser, a, b, connectCall } = await makeCallPair();
  const other = await benBrowser.openTab();
  await connectCall();
  const seen: unknown[] = [];
  const again = await b.reload();
  for (let ms = 0; ms < 6_000; ms += 50) {
    await time.pass(50);
    seen.push(again.controller.otherTab.view, other.controller.otherTab.view?.isGone);
  }
  expect([a.phase, again.phase, other.phase]).toEqual(["connected", "connected", "idle"]);
  expect(new Set(seen)).toEqual(new Set([undefined, false]));
});

it("a call can be ended from a tab that does not hold it, whether or not its own tab still exists", async () => {
  const { time, benBrowser, a, b, connectCall, server } = await makeCallPair();
  const other = await benBrowser.openTab();
  await connectCall();
  other.controller.otherTab.hangUp();
  expect(other.controller.otherTab.view).toBeUndefined();
  await time.pass(4 * second);
  expectQuiet(a, b, other);

  await connectCall();
  b.kill();
  await time.pass(3 * second);
  other.controller.otherTab.hangUp();
  await time.pass(4 * second);
  expectQuiet(a, other);
  expect(server.isDown).toBe(false);
});

it("a call that ended while it was being resumed is shown nowhere any more", async () => {
  const { time, benBrowser, a, b, connectCall } = await makeCallPair();
  const other = await benBrowser.openTab();
  await connectCall();
  b.kill();
  await time.pass(3 * second);
  benBrowser.lossRate = 1; // The notice of its end does not arrive.
  a.controller.handleUserAction({ type: "hangUp" });
  await time.pass(2 * second);
  benBrowser.lossRate = 0;
  other.controller.otherTab.resume();
  await time.pass(8 * second);
  expect(other.controller.otherTab.view).toBeUndefined();
  expectQuiet(a, other);
});

import { describe, expect, it } from "vitest";
import { CameraIdleTimer, VideoRestoredHint } from "#calls/media/camera-idle.ts";
import {
  applyPreferenceChange,
  createDefaultPreferences,
  type MediaPreferenceChange,
} from "#calls/media/media-preferences.ts";
import { makeCallPair } from "#tests/support/model/call-pair.ts";

describe("media preferences of a call", () => {
  it("apply from the first moment after a page reload", async () => {
    const chosen: [MediaPreferenceChange, object][] = [
      [{ isMuted: true }, { isMuted: true, isCameraOn: true, takesPictures: true }],
      [{ isCameraOn: false }, { isMuted: false, isCameraOn: false, takesPictures: true }],
      [{ takesPictures: false }, { isMuted: false, isCameraOn: false, takesPictures: false }],
    ];
    for (const [choice, lets] of chosen) {
      const { time, a, b, connectCall } = await makeCallPair();
      await connectCall("video");
      for (const tab of [a, b]) {
        tab.controller.changePreference(choice);
        const again = await tab.reload(); // in the same moment
        await time.pass(3_000);
        expect(again.phase).toBe("connected");
        expect(again.media?.preferenceHistory).toEqual([lets]);
      }
    }
  });

  it("are stored before they are applied", async () => {
    const { a, connectCall } = await makeCallPair();
    await connectCall("video");
    const kept: string[] = [];
    const { media } = a;
    if (!media) throw new Error("there are no media");
    media.setMuted = () => kept.push(a.storage.get("call") ?? "");
    a.controller.changePreference({ isMuted: true });
    expect(kept).toEqual([expect.stringContaining('"isMuted":true')]);
  });

  it("keep a camera that was switched on again on after a page reload", async () => {
    const { time, a, connectCall } = await makeCallPair();
    await connectCall("video");
    for (const isOn of [false, true]) {
      a.controller.changePreference({ isMuted: !isOn });
      a.controller.changePreference({ isCameraOn: isOn });
    }
    const again = await a.reload();
    await time.pass(3_000);
    expect(again.media?.preferenceHistory).toEqual([{ isMuted: false, isCameraOn: true, takesPictures: true }]);
  });

  it("of microphone, camera and loudspeaker hold at once and after a page reload, but not in the next call", async () => {
    const { time, a, connectCall, chat, ben } = await makeCallPair();
    await connectCall("video");
    a.controller.changePreference({ device: "videoinput", id: "back" });
    a.controller.changePreference({ device: "audioinput", id: "headset" });
    a.controller.changePreference({ device: "audiooutput", id: "loudspeaker" });
    const inputs = { videoinput: "back", audioinput: "headset" };
    expect(a.media?.devices).toEqual(inputs);
    expect(a.view?.devices).toEqual({ ...inputs, audiooutput: "loudspeaker" });
    const again = await a.reload();
    await time.pass(3_000);
    expect(again.media?.devices).toMatchObject(inputs);
    expect(again.view?.devices).toEqual({ ...inputs, audiooutput: "loudspeaker" });
    again.controller.handleUserAction({ type: "hangUp" });
    await time.pass(5_000);
    again.dial(chat, ben, "video");
    await time.pass(500);
    expect(again.media?.devices).toEqual({});
  });

  it("default to silent if an older page did not store them", async () => {
    const { time, anaBrowser, a, connectCall } = await makeCallPair();
    await connectCall("video");
    a.kill();
    const { choices: _, ...older } = JSON.parse(a.storage.get("call") ?? "{}");
    const again = await anaBrowser.openTab(new Map([["call", JSON.stringify(older)]]));
    await time.pass(3_000);
    expect(again.phase).toBe("connected");
    expect(again.media?.preferenceHistory).toEqual([{ isMuted: true, isCameraOn: false, takesPictures: true }]);
  });

  it("set before answering hold in whichever tab answers, and not in the next call", async () => {
    const { time, benBrowser, a, b, ring } = await makeCallPair();
    const silent = await benBrowser.openTab();
    await ring("video");
    const taking = [b, silent].find(({ mediaSessions: planes }) => planes.length === 0) ?? silent;
    taking.controller.changePreference({ isCameraOn: false });
    taking.controller.handleUserAction({ type: "accept" });
    await time.pass(3_000);
    expect([a.phase, taking.phase]).toEqual(["connected", "connected"]);
    expect(taking.media?.preferenceHistory).toEqual([{ isMuted: false, isCameraOn: false, takesPictures: true }]);
    taking.controller.handleUserAction({ type: "hangUp" });
    await time.pass(5_000);
    await ring("video").catch(() => undefined);
    taking.controller.handleUserAction({ type: "accept" });
    await time.pass(3_000);
    expect(taking.media?.preferenceHistory).toEqual([{ isMuted: false, isCameraOn: true, takesPictures: true }]);
  });

  it("for audio only restore the camera as it was, or as chosen meanwhile", () => {
    const alone = applyPreferenceChange(createDefaultPreferences("video"), { takesPictures: false });
    expect(alone).toMatchObject({ isCameraOn: false });
    expect(applyPreferenceChange(alone, { takesPictures: true })).toEqual(createDefaultPreferences("video"));
    const off = applyPreferenceChange(createDefaultPreferences("video"), { isCameraOn: false });
    expect(
      applyPreferenceChange(applyPreferenceChange(off, { takesPictures: false }), { takesPictures: true }),
    ).toEqual(off);
    const refused = applyPreferenceChange(alone, { isCameraOn: false });
    expect(applyPreferenceChange(refused, { takesPictures: true })).toMatchObject({ isCameraOn: false });
    expect(applyPreferenceChange(alone, { takesPictures: false })).toEqual(alone);
  });
});

describe("video that is restored", () => {
  it("shows a hint for some seconds if the camera stayed on", () => {
    const hint = new VideoRestoredHint();
    expect(hint.update("on", 0)).toBe(false);
    expect(hint.update("unwanted", 1_000)).toBe(false);
    expect(hint.update("on", 2_000)).toBe(true);
    expect(hint.update("on", 9_000)).toBe(true);
    expect(hint.update("on", 10_000)).toBe(false);
    expect(hint.update("lowBandwidth", 11_000)).toBe(false);
    expect(hint.update("on", 12_000)).toBe(true);
    expect(hint.update("off", 12_500)).toBe(false);
    expect(hint.update("on", 13_000)).toBe(false);
  });

  it("shows no hint if the person switched the camera off meanwhile", () => {
    const hint = new VideoRestoredHint();
    for (const camera of ["unwanted", "off", "waiting", "on"] as const) expect(hint.update(camera, 0)).toBe(false);
  });
});

describe("a camera whose video is not sent", () => {
  it("is switched off after ten seconds, and on again when the video can be sent", () => {
    const rest = new CameraIdleTimer();
    expect(rest.shouldSuspend(false, 0, 60_000)).toBe(false);
    expect(rest.shouldSuspend(true, 0, 61_000)).toBe(false);
    expect(rest.shouldSuspend(true, 0, 70_900)).toBe(false);
    expect(rest.shouldSuspend(true, 0, 71_000)).toBe(true);
    expect(rest.shouldSuspend(false, 0, 71_500)).toBe(false);
    expect(rest.shouldSuspend(true, 0, 72_000)).toBe(false);
  });

  it("is switched on for ten more seconds when the user asks for it", () => {
    const rest = new CameraIdleTimer();
    rest.shouldSuspend(true, 0, 0);
    expect(rest.shouldSuspend(true, 0, 15_000)).toBe(true);
    expect(rest.shouldSuspend(true, 16_000, 16_000)).toBe(false);
    expect(rest.shouldSuspend(true, 16_000, 26_000)).toBe(true);
  });
});

import { describe, expect, it } from "vitest";
import {
  createQualityState,
  type LinkWindow,
  type QualityState,
  type QualityWishes,
  stepQuality,
} from "#calls/quality/quality-ladder.ts";

const good: LinkWindow = { seconds: 0.5, outLoss: 0, rttMs: 80, estimate: undefined, concealed: 0, isHeard: true };
const voice: QualityWishes = { isCameraOn: false, isDataSaver: false, peer: { takesVideo: true, hasVideo: false } };
const seen: QualityWishes = { ...voice, isCameraOn: true };

const run = (
  state: QualityState,
  seconds: number,
  window: Partial<LinkWindow> = {},
  wishes: QualityWishes = voice,
): QualityState => {
  let now = state;
  for (let at = 0; at < seconds; at += 0.5) now = stepQuality(now, { ...good, ...window }, wishes);
  return now;
};
const start = createQualityState(false);

describe("audio", () => {
  it("is sent once at 24 kbit/s, and at 12 in data saver mode", () => {
    expect(run(start, 60).level).toMatchObject({ audioBitrate: 24_000, isRedundant: false, video: "off" });
    const dataSaver = { ...voice, isDataSaver: true };
    expect(run(createQualityState(true), 60, {}, dataSaver).level).toMatchObject({
      audioBitrate: 12_000,
      isRedundant: false,
    });
  });

  it("is sent twice after five seconds of more than 8 % loss, and once again after fifteen seconds without", () => {
    const lossy = { outLoss: 0.12 };
    expect(run(start, 4.5, lossy).level.isRedundant).toBe(false);
    const twice = run(start, 5, lossy);
    expect(twice.level.isRedundant).toBe(true);
    expect(run(twice, 60, { outLoss: 0.05 }).level.isRedundant).toBe(true);
    expect(run(twice, 14.5).level.isRedundant).toBe(true);
    expect(run(twice, 15).level.isRedundant).toBe(false);
  });

  it("counts those seconds in a row", () => {
    const interrupted = run(run(start, 4, { outLoss: 0.12 }), 0.5);
    expect(run(interrupted, 4, { outLoss: 0.12 }).level.isRedundant).toBe(false);
  });

  it("is reduced to the lowest bitrate, not sent twice, if packets are lost to queueing", () => {
    const full = run(run(start, 5), 5, { outLoss: 0.15, rttMs: 900 });
    expect(full.level).toMatchObject({ audioBitrate: 12_000, isRedundant: false });
    expect(run(full, 14.5).level.audioBitrate).toBe(12_000);
    expect(run(full, 15).level.audioBitrate).toBe(24_000);
  });

  it("is not sent twice for losses caused by video before it was switched off, which are reported long after", () => {
    const drowned = run(run(start, 6, { estimate: 300_000 }, seen), 1, { concealed: 0.4 }, seen);
    expect(drowned.level.video).toBe("off");
    const settled = run(drowned, 15, { outLoss: 0.12 }, seen);
    expect(settled.level.isRedundant).toBe(false);
    expect(run(settled, 5, { outLoss: 0.12 }, seen).level.isRedundant).toBe(true);
  });

  it("is reduced to the lowest bitrate below 30 kbit/s, and restored only above 60", () => {
    const tiny = run(start, 5, { estimate: 25_000 });
    expect(tiny.level.audioBitrate).toBe(12_000);
    expect(run(tiny, 60, { estimate: 50_000 }).level.audioBitrate).toBe(12_000);
    expect(run(tiny, 16, { estimate: 80_000 }).level.audioBitrate).toBe(24_000);
  });
});

describe("video", () => {
  const wide = { estimate: 300_000 };

  it("starts small once audio flows, and only if the connection has the capacity", () => {
    expect(run(start, 1, wide, seen).level.video).toBe("off");
    expect(run(start, 2, wide, seen).level.video).toBe("small");
    expect(run(start, 9, { estimate: 120_000 }, seen).level.video).toBe("off");
    expect(run(start, 5, { ...wide, isHeard: false }, seen).level.video).toBe("off");
    expect(run(start, 5, { ...wide, concealed: 0.08 }, seen).level.video).toBe("off");
  });

  it("starts if the capacity is unknown and was never probed", () => {
    expect(run(start, 2, {}, seen).level.video).toBe("small");
    expect(run(start, 12, { estimate: 120_000 }, seen).level.video).toBe("small");
  });

  it("waits no longer than three good seconds if the browser's probe packets were lost", () => {
    const untried = { estimate: 100_000 }; // Video starts here and stays.
    expect(run(start, 2.5, untried, seen).level.video).toBe("off");
    expect(run(start, 3, untried, seen).level.video).toBe("small");
    const gap = run(start, 2.5, untried, seen);
    expect(run(gap, 3, { ...untried, concealed: 0.08 }, seen).level.video).toBe("off");
    expect(run(start, 9, { estimate: 95_000 }, seen).level.video).toBe("off");
  });

  it("stays off while the camera is off or the other side wants none", () => {
    expect(run(start, 30, wide).level.video).toBe("off");
    expect(run(start, 30, wide, { ...seen, peer: { takesVideo: false, hasVideo: false } }).level.video).toBe("off");
    const on = run(start, 5, wide, seen);
    expect(run(on, 0.5, wide, voice).level.video).toBe("off");
  });

  it("grows on a fast connection, but not in data saver mode", () => {
    const small = run(start, 2, wide, seen);
    expect(run(small, 1, { estimate: 700_000 }, seen).level.video).toBe("medium");
    expect(run(createQualityState(true), 60, { estimate: 700_000 }, { ...seen, isDataSaver: true }).level.video).toBe(
      "small",
    );
  });

  it("is tried larger after ten good seconds if the estimate does not grow by itself", () => {
    const small = run(start, 2, { estimate: 450_000 }, seen);
    expect(run(small, 9, { estimate: 450_000 }, seen).level.video).toBe("small");
    expect(run(small, 11, { estimate: 450_000 }, seen).level.video).toBe("medium");
  });

  it("shrinks with the connection, and stays small for a minute", () => {
    const medium = run(run(start, 2, wide, seen), 1, { estimate: 700_000 }, seen);
    const small = run(medium, 0.5, { estimate: 300_000 }, seen);
    expect(small.level.video).toBe("small");
    expect(run(small, 59, { estimate: 700_000 }, seen).level.video).toBe("small");
    expect(run(small, 62, { estimate: 700_000 }, seen).level.video).toBe("medium");
  });

  it("stops in both directions after two windows with gaps in the audio, whatever the estimate", () => {
    const on = run(start, 5, wide, seen);
    const once = run(on, 0.5, { ...wide, concealed: 0.3 }, seen);
    expect(once.level).toMatchObject({ video: "small", takesVideo: true });
    expect(run(run(once, 0.5, wide, seen), 0.5, { ...wide, concealed: 0.3 }, seen).level.video).toBe("small");
    expect(run(once, 0.5, { ...wide, concealed: 0.3 }, seen).level).toMatchObject({ video: "off", takesVideo: false });
  });

  it("stops after one such window if the browser allots far less than its target", () => {
    const gap = { ...wide, concealed: 0.3 };
    const on = run(start, 6, wide, seen);
    expect(run(on, 0.5, { ...gap, videoTargetBitrate: 80_000 }, seen).level).toMatchObject({
      video: "off",
      takesVideo: false,
    });
    expect(run(on, 0.5, { ...gap, videoTargetBitrate: 120_000 }, seen).level.video).toBe("small");
    const started = run(start, 3, wide, seen);
    expect(run(started, 0.5, { ...gap, videoTargetBitrate: 80_000 }, seen).level.video).toBe("small");
  });

  it("continues if only the delay varies, as long as the audio has no gaps", () => {
    const on = run(start, 6, wide, seen);
    expect(run(on, 30, { ...wide, videoTargetBitrate: 70_000, rttMs: 700 }, seen).level.video).toBe("small");
    expect(run(on, 30, { ...wide, videoTargetBitrate: 70_000, concealed: 0.1 }, seen).level.video).toBe("small");
  });

  it("stops after a gap in the audio even if nothing arrived after it", () => {
    const on = run(start, 6, wide, seen);
    const once = run(on, 0.5, { ...wide, concealed: 0.3 }, seen);
    const unheard = run(once, 1, { ...wide, concealed: 1, isHeard: false }, seen);
    expect(unheard.level.video).toBe("small");
    expect(run(unheard, 0.5, { ...wide, concealed: 0.3 }, seen).level).toMatchObject({
      video: "off",
      takesVideo: false,
    });
  });

  it("is no longer requested from the other side if only that side sends it", () => {
    const watching = { ...voice, peer: { takesVideo: true, hasVideo: true } };
    expect(run(start, 1, { concealed: 0.4 }, watching).level.takesVideo).toBe(false);
  });

  it("does not stop if the audio has no gaps, or if nothing arrives at all", () => {
    expect(run(start, 5, { concealed: 0.5 }).level.takesVideo).toBe(true);
    const on = run(start, 5, wide, seen);
    expect(run(on, 1.5, { ...wide, concealed: 1, isHeard: false }, seen).level.video).toBe("small");
  });

  it("returns after twenty good seconds, and the next time after forty", () => {
    const bad = { ...wide, concealed: 0.3 };
    const off = run(run(start, 5, wide, seen), 1, bad, seen);
    expect(run(off, 19, wide, seen).level).toMatchObject({ video: "off", takesVideo: false });
    const again = run(off, 21, wide, seen);
    expect(again.level).toMatchObject({ video: "small", takesVideo: true });
    const offAgain = run(again, 1, bad, seen);
    expect(run(offAgain, 39, wide, seen).level.video).toBe("off");
    expect(run(offAgain, 41, wide, seen).level.video).toBe("small");
  });

  it("counts only good seconds towards its return", () => {
    const off = run(run(start, 5, wide, seen), 1, { ...wide, concealed: 0.3 }, seen);
    expect(run(off, 60, { ...wide, concealed: 0.1 }, seen).level.video).toBe("off");
  });
});

import { describe, expect, it } from "vitest";
import { AudioDetector } from "#calls/quality/audio-detector.ts";
import { rateQuality, StatsReader, type StatsSample } from "#calls/quality/stats.ts";

const sample: StatsSample = {
  packets: 100,
  bytes: 0,
  inLoss: 0,
  concealed: 0,
  outLoss: 0,
  rttMs: 80,
  estimate: undefined,
  videoTargetBitrate: undefined,
  isRelayed: false,
  heardEnergy: 0.01,
  spokenEnergy: 0.01,
};
const silence = { heardEnergy: 0, spokenEnergy: 0 };
type Moment = Parameters<AudioDetector["addSample"]>[2];

const makeHearing = () => {
  const hearing = new AudioDetector();
  let now = 0;
  const run = (seconds: number, change: Partial<StatsSample> = {}, moment: Partial<Moment> = {}, isHeard = true) => {
    for (const until = now + seconds * 1000; now < until; ) {
      now += 500;
      const { isSpeaking = true, isMicSilenced = false, peerHears = "sound" } = moment;
      hearing.addSample({ ...sample, ...change }, isHeard, { now, isSpeaking, isMicSilenced, peerHears });
    }
  };
  return { hearing, run };
};

describe("received audio", () => {
  it("counts as absent before the first packet, and again three seconds after the last one", () => {
    const { hearing, run } = makeHearing();
    expect(hearing.hears).toBe("nothing");
    run(1);
    expect(hearing.hears).toBe("sound");
    run(2.5, {}, {}, false);
    expect(hearing.hears).toBe("sound");
    run(1, {}, {}, false);
    expect(hearing.hears).toBe("nothing");
  });

  it("counts as sound during the speaker's pauses, and as silence after ten seconds", () => {
    const { hearing, run } = makeHearing();
    run(1);
    run(9, silence);
    expect(hearing.hears).toBe("sound");
    run(2, silence);
    expect(hearing.hears).toBe("silence");
  });
});

describe("a user who is not heard", () => {
  it("is warned after two seconds of speaking while the other side receives nothing", () => {
    const { hearing, run } = makeHearing();
    run(2, {}, { peerHears: "nothing" });
    expect(hearing.isMicInaudible).toBe(false);
    run(1, {}, { peerHears: "nothing" });
    expect(hearing.isMicInaudible).toBe(true);
    run(0.5, {}, { peerHears: "sound" });
    expect(hearing.isMicInaudible).toBe(false);
  });

  it("is warned later if silent packets arrive", () => {
    const { hearing, run } = makeHearing();
    run(5, {}, { peerHears: "silence" });
    expect(hearing.isMicInaudible).toBe(false);
    run(1, {}, { peerHears: "silence" });
    expect(hearing.isMicInaudible).toBe(true);
  });

  it("is not warned while silent or muted", () => {
    const quiet = makeHearing();
    quiet.run(60, silence, { peerHears: "nothing" });
    expect(quiet.hearing.isMicInaudible).toBe(false);
    const muted = makeHearing();
    muted.run(60, {}, { peerHears: "nothing", isSpeaking: false });
    expect(muted.hearing.isMicInaudible).toBe(false);
  });

  it("is warned if the system silences the microphone", () => {
    const { hearing, run } = makeHearing();
    run(3, silence, { isMicSilenced: true });
    expect(hearing.isMicInaudible).toBe(true);
  });
});

describe("statistics", () => {
  const report = (at: number, more: object = {}) => [
    {
      id: "T",
      type: "transport",
      bytesSent: 1_000 * at,
      packetsSent: 10 * at,
      bytesReceived: 500 * at,
      packetsReceived: 5 * at,
    },
    {
      id: "I",
      type: "inbound-rtp",
      kind: "audio",
      packetsReceived: 90 * at,
      packetsLost: 10 * at,
      totalSamplesReceived: 48_000 * at,
      concealedSamples: 9_600 * at,
      silentConcealedSamples: 4_800 * at,
      totalAudioEnergy: 0.02 * at,
      totalSamplesDuration: 2 * at,
      ...more,
    },
    { id: "R", type: "remote-inbound-rtp", kind: "audio", fractionLost: 0.25, roundTripTime: 0.3 },
  ];

  it("are differences between two samples, with the headers of every packet", () => {
    const reader = new StatsReader();
    reader.read(report(1));
    expect(reader.read(report(2))).toMatchObject({
      packets: 180,
      bytes: 1_500 + 28 * 15,
      inLoss: 0.1,
      concealed: 0.1,
      outLoss: 0.25,
      rttMs: 300,
      heardEnergy: 0.01,
      estimate: undefined,
      videoTargetBitrate: undefined,
      isRelayed: false,
    });
  });

  it("that do not exist give no result and no error", () => {
    expect(new StatsReader().read([])).toMatchObject({ packets: 0, bytes: 0, concealed: 0, outLoss: undefined });
  });

  it("rate a connection as good, fair or bad by its worst side", () => {
    expect(rateQuality([])).toBe(0);
    expect(rateQuality([sample])).toBe(3);
    expect(rateQuality([{ ...sample, outLoss: 0.05 }])).toBe(2);
    expect(rateQuality([{ ...sample, rttMs: 600 }])).toBe(2);
    expect(rateQuality([{ ...sample, concealed: 0.2 }])).toBe(1);
    expect(rateQuality([{ ...sample, rttMs: 1_500 }])).toBe(1);
  });
});

import { AudioDetector } from "#calls/quality/audio-detector.ts";
import { createQualityState, type QualityState, stepQuality } from "#calls/quality/quality-ladder.ts";
import { rateQuality, type StatsSample } from "#calls/quality/stats.ts";
import type { MediaState } from "#calls/signaling/messages.ts";
import type { LocalDevices } from "./local-devices.ts";
import type { MediaView } from "./media-session.ts";

const qualitySamples = 4; // two seconds

/** Metrics of the active peer connection, sampled regularly: link quality, data use, and the quality level to send. */
export class CallMetrics {
  readonly #isDataSaver: boolean;
  readonly #audioDetector = new AudioDetector();
  #ladder: QualityState;
  #samples: StatsSample[] = [];
  #bytes = 0;
  #quality: MediaView["quality"] = 0;

  constructor(isDataSaver: boolean) {
    this.#isDataSaver = isDataSaver;
    this.#ladder = createQualityState(isDataSaver);
  }

  get ladder(): QualityState {
    return this.#ladder;
  }
  get bytes(): number {
    return this.#bytes;
  }
  get quality(): MediaView["quality"] {
    return this.#quality;
  }
  get hears(): MediaState["hears"] {
    return this.#audioDetector.hears;
  }
  get isMicInaudible(): boolean {
    return this.#audioDetector.isMicInaudible;
  }
  /** Whether audio packets arrived over the current peer connection. */
  get isReceivingAudio(): boolean {
    return (this.#samples.at(-1)?.packets ?? 0) > 0;
  }

  /** Retries video at once when the person asks for it although the link did not carry it. */
  retryVideo(): void {
    this.#ladder = { ...this.#ladder, videoCooldown: 0 };
  }

  addSample(
    sample: StatsSample,
    seconds: number,
    devices: LocalDevices,
    isCameraOn: boolean,
    peer: MediaState | undefined,
  ): void {
    const isHeard = sample.packets > (this.#samples.at(-1)?.packets ?? 0);
    this.#samples = [...this.#samples, sample].slice(-qualitySamples);
    this.#bytes += sample.bytes;
    this.#quality = rateQuality(this.#samples);
    this.#audioDetector.addSample(sample, isHeard, {
      now: performance.now(),
      isSpeaking: !devices.isMuted && devices.getTrack("audio") !== undefined,
      isMicSilenced: devices.getTrack("audio")?.muted === true,
      peerHears: peer?.hears,
    });
    this.#ladder = stepQuality(
      this.#ladder,
      { ...sample, seconds, isHeard },
      {
        isCameraOn: isCameraOn && devices.getTrack("video") !== undefined,
        isDataSaver: this.#isDataSaver,
        peer: { takesVideo: peer?.takesVideo ?? true, hasVideo: peer?.video ?? false },
      },
    );
  }
}

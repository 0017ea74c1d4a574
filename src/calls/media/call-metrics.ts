import { AudioDetector } from "#calls/quality/audio-detector.ts";
import { createQualityState, type QualityState, stepQuality } from "#calls/quality/quality-ladder.ts";
import { rateQuality, type StatsSample } from "#calls/quality/stats.ts";
import type { MediaState } from "#calls/signaling/messages.ts";
import type { LocalDevices } from "./local-devices.ts";
import type { MediaView } from "./media-session.ts";

const qualitySamples = 4; // two seconds

/** What look by look is learned of the way that is talked over: how good it is, what it took, what to send by it. */
export class CallMetrics {
  readonly #isDataSaver: boolean;
  readonly #audioDetector = new AudioDetector();
  #ladder: QualityState;
  #samples: StatsSample[] = [];
  #bytes = 0;
  #quality: MediaView["quality"] = 0;

  constructor(isThrifty: boolean) {
    this.#isDataSaver = isThrifty;
    this.#ladder = createQualityState(isThrifty);
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
  /** Packets of voice came over the peer connection of now. */
  get isReceivingAudio(): boolean {
    return (this.#samples.at(-1)?.packets ?? 0) > 0;
  }

  /** The person asks for pictures that the link did not carry: it is tried again at once. */
  retryVideo(): void {
    this.#ladder = { ...this.#ladder, videoCooldown: 0 };
  }

  addSample(
    sample: StatsSample,
    seconds: number,
    inputs: LocalDevices,
    isCameraOn: boolean,
    peer: MediaState | undefined,
  ): void {
    const isHeard = sample.packets > (this.#samples.at(-1)?.packets ?? 0);
    this.#samples = [...this.#samples, sample].slice(-qualitySamples);
    this.#bytes += sample.bytes;
    this.#quality = rateQuality(this.#samples);
    this.#audioDetector.addSample(sample, isHeard, {
      now: performance.now(),
      isSpeaking: !inputs.isMuted && inputs.getTrack("audio") !== undefined,
      isMicSilenced: inputs.getTrack("audio")?.muted === true,
      peerHears: peer?.hears,
    });
    this.#ladder = stepQuality(
      this.#ladder,
      { ...sample, seconds, isHeard },
      {
        isCameraOn: isCameraOn && inputs.getTrack("video") !== undefined,
        isDataSaver: this.#isDataSaver,
        peer: { takesVideo: peer?.takesVideo ?? true, hasVideo: peer?.video ?? false },
      },
    );
  }
}

import { Hearing } from "#calls/quality/audio-detector.ts";
import { firstRung, type RungState, stepRung } from "#calls/quality/quality-ladder.ts";
import { qualityOf, type Sample } from "#calls/quality/stats.ts";
import type { MediaState } from "#calls/signaling/messages.ts";
import type { Inputs } from "./local-devices.ts";
import type { MediaView } from "./media-session.ts";

const samplesOfQuality = 4; // two seconds

/** What look by look is learned of the way that is talked over: how good it is, what it took, what to send by it. */
export class Measures {
  readonly #isThrifty: boolean;
  readonly #hearing = new Hearing();
  #rungs: RungState;
  #samples: Sample[] = [];
  #bytes = 0;
  #quality: MediaView["quality"] = 0;

  constructor(isThrifty: boolean) {
    this.#isThrifty = isThrifty;
    this.#rungs = firstRung(isThrifty);
  }

  get rungs(): RungState {
    return this.#rungs;
  }
  get bytes(): number {
    return this.#bytes;
  }
  get quality(): MediaView["quality"] {
    return this.#quality;
  }
  get hears(): MediaState["hears"] {
    return this.#hearing.hears;
  }
  get isUnheard(): boolean {
    return this.#hearing.isUnheard;
  }
  /** Packets of voice came over the peer connection of now. */
  get isComing(): boolean {
    return (this.#samples.at(-1)?.packets ?? 0) > 0;
  }

  /** The person asks for pictures that the link did not carry: it is tried again at once. */
  tryPictures(): void {
    this.#rungs = { ...this.#rungs, wait: 0 };
  }

  take(sample: Sample, seconds: number, inputs: Inputs, isCameraOn: boolean, peer: MediaState | undefined): void {
    const isHeard = sample.packets > (this.#samples.at(-1)?.packets ?? 0);
    this.#samples = [...this.#samples, sample].slice(-samplesOfQuality);
    this.#bytes += sample.bytes;
    this.#quality = qualityOf(this.#samples);
    this.#hearing.take(sample, isHeard, {
      now: performance.now(),
      isSpeaking: !inputs.isMuted && inputs.track("audio") !== undefined,
      isMicSilenced: inputs.track("audio")?.muted === true,
      peerHears: peer?.hears,
    });
    this.#rungs = stepRung(
      this.#rungs,
      { ...sample, seconds, isHeard },
      {
        isCameraOn: isCameraOn && inputs.track("video") !== undefined,
        isThrifty: this.#isThrifty,
        peer: { takesVideo: peer?.takesVideo ?? true, hasVideo: peer?.video ?? false },
      },
    );
  }
}

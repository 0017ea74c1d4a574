import type { MediaState } from "#calls/signaling/messages.ts";
import type { Sample } from "./stats.ts";

type Moment = {
  now: number;
  /** This side's microphone is on and not muted. */
  isSpeaking: boolean;
  /** The system keeps the microphone silent: another call, a locked screen, a switch. */
  isMicSilenced: boolean;
  peerHears: MediaState["hears"] | undefined;
};

// As means of squares: -60 and -40 dB of the loudest
const soundEnergy = 1e-6;
const speechEnergy = 1e-4;
const soundForMs = 10_000; // pauses of someone who talks
const packetsForMs = 3_000;
const unheardSeconds = { nothing: 2, silence: 5 } as const;
const silencedSeconds = 2;

/** What is heard of the other side, and whether it hears this one: it says so, and this side knows that it spoke. */
export class Hearing {
  #lastPacketAt = Number.NEGATIVE_INFINITY;
  #lastSoundAt = Number.NEGATIVE_INFINITY;
  #lastAt: number | undefined;
  #spokenFor = 0;
  #silencedFor = 0;
  #hears: MediaState["hears"] = "nothing";
  #isUnheard = false;

  get hears(): MediaState["hears"] {
    return this.#hears;
  }

  get isUnheard(): boolean {
    return this.#isUnheard;
  }

  take(sample: Sample, isHeard: boolean, { now, isSpeaking, isMicSilenced, peerHears }: Moment): void {
    const seconds = this.#lastAt === undefined ? 0 : (now - this.#lastAt) / 1000;
    this.#lastAt = now;
    if (isHeard) this.#lastPacketAt = now;
    if (isHeard && sample.heardEnergy > soundEnergy) this.#lastSoundAt = now;
    const isComing = now - this.#lastPacketAt < packetsForMs;
    this.#hears = !isComing ? "nothing" : now - this.#lastSoundAt < soundForMs ? "sound" : "silence";
    const isHeardThere = !isSpeaking || peerHears === "sound";
    if (isHeardThere) this.#spokenFor = 0;
    else if (sample.spokenEnergy > speechEnergy) this.#spokenFor += seconds;
    this.#silencedFor = isSpeaking && isMicSilenced ? this.#silencedFor + seconds : 0;
    const needed = peerHears === "nothing" || peerHears === "silence" ? unheardSeconds[peerHears] : undefined;
    this.#isUnheard = this.#silencedFor >= silencedSeconds || (needed !== undefined && this.#spokenFor >= needed);
  }
}

import type { MediaState } from "#calls/signaling/messages.ts";
import type { StatsSample } from "./stats.ts";

type AudioObservation = {
  now: number;
  /** This side's microphone is on and not muted. */
  isSpeaking: boolean;
  /** The system keeps the microphone silent: another call, a locked screen, a switch. */
  isMicSilenced: boolean;
  peerHears: MediaState["hears"] | undefined;
};

// As means of squares: -60 and -40 dB of the loudest
const audibleEnergy = 1e-6;
const speechEnergy = 1e-4;
const soundHoldMs = 10_000; // pauses of someone who talks
const packetsHoldMs = 3_000;
const unheardSeconds = { nothing: 2, silence: 5 } as const;
const silencedSeconds = 2;

/** What is heard of the other side, and whether it hears this one: it says so, and this side knows that it spoke. */
export class AudioDetector {
  #lastPacketAt = Number.NEGATIVE_INFINITY;
  #lastSoundAt = Number.NEGATIVE_INFINITY;
  #lastSampleAt: number | undefined;
  #spokenFor = 0;
  #silencedFor = 0;
  #hears: MediaState["hears"] = "nothing";
  #isMicInaudible = false;

  get hears(): MediaState["hears"] {
    return this.#hears;
  }

  get isMicInaudible(): boolean {
    return this.#isMicInaudible;
  }

  addSample(
    sample: StatsSample,
    isHeard: boolean,
    { now, isSpeaking, isMicSilenced, peerHears }: AudioObservation,
  ): void {
    const seconds = this.#lastSampleAt === undefined ? 0 : (now - this.#lastSampleAt) / 1000;
    this.#lastSampleAt = now;
    if (isHeard) this.#lastPacketAt = now;
    if (isHeard && sample.heardEnergy > audibleEnergy) this.#lastSoundAt = now;
    const isComing = now - this.#lastPacketAt < packetsHoldMs;
    this.#hears = !isComing ? "nothing" : now - this.#lastSoundAt < soundHoldMs ? "sound" : "silence";
    const isHeardThere = !isSpeaking || peerHears === "sound";
    if (isHeardThere) this.#spokenFor = 0;
    else if (sample.spokenEnergy > speechEnergy) this.#spokenFor += seconds;
    this.#silencedFor = isSpeaking && isMicSilenced ? this.#silencedFor + seconds : 0;
    const needed = peerHears === "nothing" || peerHears === "silence" ? unheardSeconds[peerHears] : undefined;
    this.#isMicInaudible = this.#silencedFor >= silencedSeconds || (needed !== undefined && this.#spokenFor >= needed);
  }
}

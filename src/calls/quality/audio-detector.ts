import type { MediaState } from "#calls/signaling/messages.ts";
import type { StatsSample } from "./stats.ts";

type AudioObservation = {
  now: number;
  /** Whether this side's microphone is on and not muted. */
  isSpeaking: boolean;
  /** Whether the system silences the microphone: another call, a locked screen, a hardware switch. */
  isMicSilenced: boolean;
  peerHears: MediaState["hears"] | undefined;
};

// Mean squares: -60 and -40 dB of full scale
const audibleEnergy = 1e-6;
const speechEnergy = 1e-4;
const soundHoldMs = 10_000; // covers pauses in speech
const packetsHoldMs = 3_000;
const unheardSeconds = { nothing: 2, silence: 5 } as const;
const silencedSeconds = 2;

/**
 * Detects whether remote audio is heard, and whether the other side hears this one: by its report and by the local
 * speech energy.
 */
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
    hasNewPackets: boolean,
    { now, isSpeaking, isMicSilenced, peerHears }: AudioObservation,
  ): void {
    const seconds = this.#lastSampleAt === undefined ? 0 : (now - this.#lastSampleAt) / 1000;
    this.#lastSampleAt = now;
    if (hasNewPackets) this.#lastPacketAt = now;
    if (hasNewPackets && sample.heardEnergy > audibleEnergy) this.#lastSoundAt = now;
    const isReceiving = now - this.#lastPacketAt < packetsHoldMs;
    this.#hears = !isReceiving ? "nothing" : now - this.#lastSoundAt < soundHoldMs ? "sound" : "silence";
    const isHeardByPeer = !isSpeaking || peerHears === "sound";
    if (isHeardByPeer) this.#spokenFor = 0;
    else if (sample.spokenEnergy > speechEnergy) this.#spokenFor += seconds;
    this.#silencedFor = isSpeaking && isMicSilenced ? this.#silencedFor + seconds : 0;
    const needed = peerHears === "nothing" || peerHears === "silence" ? unheardSeconds[peerHears] : undefined;
    this.#isMicInaudible = this.#silencedFor >= silencedSeconds || (needed !== undefined && this.#spokenFor >= needed);
  }
}

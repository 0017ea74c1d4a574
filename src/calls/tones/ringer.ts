import type { CallSyncPort } from "#calls/sync-port.ts";
import { TabLock } from "#calls/tab-lock.ts";
import type { Tone } from "./tones.ts";

const hiddenTabDelayMs = 300; // a visible tab comes first

type RingerPort = Pick<CallSyncPort, "me" | "platform" | "isRingAudible">;

/**
 * Plays the call tones of this tab. Of several ringing tabs one plays the ringtone, or only vibrates if the person has
 * turned call sounds off.
 */
export class Ringer {
  readonly #sync: RingerPort;
  readonly #playTone: (tone: Tone) => void;
  readonly #ringLock: TabLock;
  #currentTone: Tone = "none";
  /** Incremented with every tone, so that earlier waits are ignored. */
  #generation = 0;

  constructor(sync: RingerPort, play: (tone: Tone) => void) {
    this.#sync = sync;
    this.#playTone = play;
    this.#ringLock = new TabLock(sync.platform, `lisolo-ring-${sync.me}`);
  }

  /** Switches to a tone. `onAudible` is called when this tab starts ringing or vibrating. */
  setTone(tone: Tone, onAudible: () => void): void {
    const generation = ++this.#generation;
    this.#ringLock.release();
    this.#switchTo(tone === "ringtone" ? "none" : tone);
    if (tone !== "ringtone") return;
    const { platform } = this.#sync;
    const ring = async () => {
      if (generation !== this.#generation || !(await this.#ringLock.acquire()) || generation !== this.#generation)
        return;
      // If the setting cannot be read, ringing too much is better than a missed call.
      const isLoud = await this.#sync.isRingAudible().catch(() => true);
      if (generation !== this.#generation) return;
      this.#switchTo(isLoud ? tone : "vibrate");
      onAudible();
    };
    platform.startTimer(platform.isVisible() ? 0 : hiddenTabDelayMs, () => void ring());
  }

  #switchTo(tone: Tone): void {
    if (tone !== this.#currentTone) this.#playTone(tone);
    this.#currentTone = tone;
  }
}

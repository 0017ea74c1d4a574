import type { CallSyncPort } from "#calls/link.ts";
import { TabLock } from "#calls/tab-lock.ts";
import type { Tone } from "./tones.ts";

const hiddenTabDelayMs = 300; // a tab that is looked at comes first

type RingerPort = Pick<CallSyncPort, "me" | "platform" | "isRingAudible">;

/** The tones of this tab. Of the tabs of a browser that ring, one is heard, or only felt where the person wants it so. */
export class Ringer {
  readonly #sync: RingerPort;
  readonly #playTone: (tone: Tone) => void;
  readonly #ringLock: TabLock;
  #currentTone: Tone = "none";
  /** Changes with every tone: what was waited for before is not wanted any more. */
  #generation = 0;

  constructor(link: RingerPort, play: (tone: Tone) => void) {
    this.#sync = link;
    this.#playTone = play;
    this.#ringLock = new TabLock(link.platform, `lisolo-ring-${link.me}`);
  }

  /** `heard` is called where and when the ringtone is heard, or felt. */
  setTone(tone: Tone, heard: () => void): void {
    const turn = ++this.#generation;
    this.#ringLock.release();
    this.#switchTo(tone === "ringtone" ? "none" : tone);
    if (tone !== "ringtone") return;
    const { platform } = this.#sync;
    const ring = async () => {
      if (turn !== this.#generation || !(await this.#ringLock.acquire()) || turn !== this.#generation) return;
      // Better a ring too much than a call nobody hears.
      const isLoud = await this.#sync.isRingAudible().catch(() => true);
      if (turn !== this.#generation) return;
      this.#switchTo(isLoud ? tone : "tremble");
      heard();
    };
    platform.startTimer(platform.isVisible() ? 0 : hiddenTabDelayMs, () => void ring());
  }

  #switchTo(tone: Tone): void {
    if (tone !== this.#currentTone) this.#playTone(tone);
    this.#currentTone = tone;
  }
}

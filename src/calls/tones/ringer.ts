import type { CallLink } from "#calls/link.ts";
import { Hold } from "#calls/tab-lock.ts";
import type { Tone } from "./tones.ts";

const hiddenTabMs = 300; // a tab that is looked at comes first

type TonesLink = Pick<CallLink, "me" | "platform" | "hearsRinging">;

/** The tones of this tab. Of the tabs of a browser that ring, one is heard, or only felt where the person wants it so. */
export class CallTones {
  readonly #link: TonesLink;
  readonly #play: (tone: Tone) => void;
  readonly #first: Hold;
  #now: Tone = "none";
  /** Changes with every tone: what was waited for before is not wanted any more. */
  #turn = 0;

  constructor(link: TonesLink, play: (tone: Tone) => void) {
    this.#link = link;
    this.#play = play;
    this.#first = new Hold(link.platform, `lisolo-ring-${link.me}`);
  }

  /** `heard` is called where and when the ringtone is heard, or felt. */
  set(tone: Tone, heard: () => void): void {
    const turn = ++this.#turn;
    this.#first.release();
    this.#sound(tone === "ringtone" ? "none" : tone);
    if (tone !== "ringtone") return;
    const { platform } = this.#link;
    const ring = async () => {
      if (turn !== this.#turn || !(await this.#first.take()) || turn !== this.#turn) return;
      // Better a ring too much than a call nobody hears.
      const isLoud = await this.#link.hearsRinging().catch(() => true);
      if (turn !== this.#turn) return;
      this.#sound(isLoud ? tone : "tremble");
      heard();
    };
    platform.after(platform.isVisible() ? 0 : hiddenTabMs, () => void ring());
  }

  #sound(tone: Tone): void {
    if (tone !== this.#now) this.#play(tone);
    this.#now = tone;
  }
}

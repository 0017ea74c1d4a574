import { Hold } from "./hold";
import type { CallLink } from "./link";
import type { Tone } from "./tones";

const hiddenTabMs = 300; // a tab that is looked at comes first

/** The tones of this tab. Of the tabs of a browser that ring, one is heard. */
export class CallTones {
  readonly #link: Pick<CallLink, "me" | "platform">;
  readonly #play: (tone: Tone) => void;
  readonly #first: Hold;
  #now: Tone = "none";
  /** Changes with every tone: what was waited for before is not wanted any more. */
  #turn = 0;

  constructor(link: Pick<CallLink, "me" | "platform">, play: (tone: Tone) => void) {
    this.#link = link;
    this.#play = play;
    this.#first = new Hold(link.platform, `lisolo-ring-${link.me}`);
  }

  /** `heard` is called where and when the ringtone is heard. */
  set(tone: Tone, heard: () => void): void {
    const turn = ++this.#turn;
    this.#first.release();
    this.#sound(tone === "ringtone" ? "none" : tone);
    if (tone !== "ringtone") return;
    const { platform } = this.#link;
    const ring = async () => {
      if (turn !== this.#turn || !(await this.#first.take()) || turn !== this.#turn) return;
      this.#sound(tone);
      heard();
    };
    platform.after(platform.isVisible() ? 0 : hiddenTabMs, () => void ring());
  }

  #sound(tone: Tone): void {
    if (tone !== this.#now) this.#play(tone);
    this.#now = tone;
  }
}

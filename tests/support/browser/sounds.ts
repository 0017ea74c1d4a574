import type { Page } from "@playwright/test";

type Sound = { paused: boolean; playbackRate: number };

/** Records the audio elements that the page makes from its next load on. */
export const watchSounds = (page: Page) =>
  page.addInitScript(() => {
    const all: HTMLAudioElement[] = [];
    const Native = window.Audio;
    window.Audio = class extends Native {
      constructor(src?: string) {
        super(src);
        all.push(this);
      }
    };
    Object.assign(window, { sounds: () => all.map(({ paused, playbackRate }) => ({ paused, playbackRate })) });
  });

/** State of each audio element made. */
export const soundsOf = (page: Page): Promise<Sound[]> =>
  page.evaluate(() => (window as unknown as { sounds(): Sound[] }).sounds());

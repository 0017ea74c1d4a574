import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";

const patienceMs = 2_000;

/** What a checker of accessibility finds in a page that stands still: what fades in has not its own colours yet. */
export const faultsIn = async (page: Page) => {
  await page.evaluate(async (ms) => {
    const passing = document
      .getAnimations()
      .filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime));
    const ended = Promise.allSettled(passing.map(({ finished }) => finished));
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, ms))]);
  }, patienceMs);
  // In the page itself: without frames of another origin there is nothing to gather in a second page.
  return (await new AxeBuilder({ page }).setLegacyMode().analyze()).violations;
};

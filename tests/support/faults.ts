import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";

const patienceMs = 2_000;
const patienceFrames = 10; // a machine that draws none meanwhile ends nothing that moves

/** What fades in has not its own colours yet. */
const untilStill = (page: Page): Promise<void> =>
  page.evaluate(
    async ([ms, frames]) => {
      const passing = document
        .getAnimations()
        .filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime));
      const ended = Promise.allSettled(passing.map(({ finished }) => finished));
      const given = async () => {
        await new Promise((resolve) => setTimeout(resolve, ms));
        for (let n = 0; n < frames; n++) await new Promise(requestAnimationFrame);
      };
      await Promise.race([ended, given()]);
    },
    [patienceMs, patienceFrames] as const,
  );

// In the page itself: without frames of another origin there is nothing to gather in a second page.
const checkerOf = (page: Page): AxeBuilder =>
  new AxeBuilder({ page }).options({ resultTypes: ["violations"] }).setLegacyMode();

/** What a checker of accessibility finds in a page that stands still. */
export const faultsIn = async (page: Page) => {
  await untilStill(page);
  return (await checkerOf(page).analyze()).violations;
};

/** What it finds by day, and by night: between the two only the colours differ. Leaves the page by night. */
export const faultsInBothColours = async (page: Page): Promise<string[]> => {
  const found: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await untilStill(page);
    const checker = colorScheme === "light" ? checkerOf(page) : checkerOf(page).withRules("color-contrast");
    const { violations } = await checker.analyze();
    for (const { id, nodes } of violations) for (const { html } of nodes) found.push(`${colorScheme} ${id} ${html}`);
  }
  return found;
};

import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";

const patienceMs = 2_000;
const patienceFrames = 10; // a machine that draws none meanwhile ends nothing that moves
const looksMax = 5; // a page that never stands still is told of as it is

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

/** Begins to take note of what fades or moves; answers by what there was so far. */
const watchMoves = (page: Page): Promise<() => Promise<boolean>> =>
  page
    .evaluateHandle(() => {
      const seen = { hasMoved: false };
      for (const kind of ["animationstart", "animationend", "transitionrun", "transitionend"] as const)
        document.addEventListener(kind, () => (seen.hasMoved = true), { capture: true });
      return seen;
    })
    .then((seen) => () => seen.evaluate(({ hasMoved }) => hasMoved));

/** What a checker finds while nothing fades: what comes in the middle of a look is looked at again where it stands. */
const lookAt = async (page: Page, checker: () => AxeBuilder) => {
  for (let look = 1; ; look++) {
    const hasMoved = await watchMoves(page);
    await untilStill(page);
    const { violations } = await checker().analyze();
    if (violations.length === 0 || look === looksMax || !(await hasMoved())) return violations;
  }
};

/** What a checker of accessibility finds in a page that stands still. */
export const faultsIn = (page: Page) => lookAt(page, () => checkerOf(page));

/** What it finds by day, and by night: between the two only the colours differ. Leaves the page by night. */
export const faultsInBothColours = async (page: Page): Promise<string[]> => {
  const found: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const violations = await lookAt(page, () =>
      colorScheme === "light" ? checkerOf(page) : checkerOf(page).withRules("color-contrast"),
    );
    for (const { id, nodes } of violations) for (const { html } of nodes) found.push(`${colorScheme} ${id} ${html}`);
  }
  return found;
};

import type { Page } from "@playwright/test";
import axe from "axe-core";

type Violation = { id: string; nodes: { html: string }[] };

const patienceMs = 2_000;
const patienceFrames = 10; // counted in frames: an animation cannot end while a busy machine draws none
const looksMax = 5; // a page that never stands still is reported as it is

/** Waits for running fades: an element that fades in does not have its final colours yet. */
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

/**
 * Violations of all rules, or of one. axe stays in the page, since its half megabyte takes a third of a second to evaluate,
 * and does not fetch the style sheets again: only an experimental rule reads them.
 */
const runAxe = async (page: Page, rule?: string): Promise<Violation[]> => {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source);
  return page.evaluate(async (rule) => {
    const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
    const runOnly = rule === undefined ? {} : { runOnly: [rule] };
    const options = { resultTypes: ["violations" as const], iframes: false, preload: false, ...runOnly };
    const { violations } = await axe.run(document, options);
    return violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) }));
  }, rule);
};

/** Starts recording fades and movements. Returns a function that reports what was recorded so far. */
const watchMoves = (page: Page): Promise<() => Promise<boolean>> =>
  page
    .evaluateHandle(() => {
      const seen = { hasMoved: false };
      for (const kind of ["animationstart", "animationend", "transitionrun", "transitionend"] as const)
        document.addEventListener(kind, () => (seen.hasMoved = true), { capture: true });
      return seen;
    })
    .then((seen) => () => seen.evaluate(({ hasMoved }) => hasMoved));

/** Repeats a check until nothing faded or moved during it. */
const checkWhenStill = async (page: Page, rule?: string) => {
  for (let look = 1; ; look++) {
    const hasMoved = await watchMoves(page);
    await untilStill(page);
    const violations = await runAxe(page, rule);
    if (violations.length === 0 || look === looksMax || !(await hasMoved())) return violations;
  }
};

/** Accessibility violations of a page that stands still. */
export const findAxeViolations = (page: Page) => checkWhenStill(page);

/** Violations in the light and the dark theme: only the colours differ. Leaves the page in the dark theme. */
export const findAxeViolationsInBothThemes = async (page: Page): Promise<string[]> => {
  const found: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const violations = await checkWhenStill(page, colorScheme === "light" ? undefined : "color-contrast");
    for (const { id, nodes } of violations) for (const { html } of nodes) found.push(`${colorScheme} ${id} ${html}`);
  }
  return found;
};

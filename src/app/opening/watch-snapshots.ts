import { loadWithIdleTexts } from "#i18n/setup.ts";
import { waitForTakeover } from "#lib/browser/first-view.ts";

const firstSaveMs = 4_000;

/**
 * Saves snapshots (`first-view-snapshot.ts`) when the app is left, and once after it was opened, because a phone may
 * end it without notice. The code is loaded when the browser is idle.
 */
export const startSnapshots = (): void => {
  const save = () =>
    loadWithIdleTexts(() => import("./first-view-snapshot.ts"))
      .then(({ saveSnapshots }) => saveSnapshots())
      .catch(() => undefined);
  void waitForTakeover().then(() => setTimeout(() => void save(), firstSaveMs));
  addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") void save();
  });
};

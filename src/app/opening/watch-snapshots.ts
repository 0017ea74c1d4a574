import { loadWithIdleTexts } from "#i18n/setup.ts";
import { waitForTakeover } from "#lib/browser/first-view.ts";
import { onFirstViewsDeleted } from "#lib/browser/first-view-cache.ts";

const saveDelayMs = 4_000;

/**
 * Saves snapshots (`first-view-snapshot.ts`) when the app is left, and a while after it was opened or snapshots were
 * deleted, because a phone may end it without notice. The code is loaded when the browser is idle.
 */
export const startSnapshots = (): void => {
  const save = () =>
    loadWithIdleTexts(() => import("./first-view-snapshot.ts"))
      .then(({ saveSnapshots }) => saveSnapshots())
      .catch(() => undefined);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const saveLater = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void save(), saveDelayMs);
  };
  void waitForTakeover().then(saveLater);
  onFirstViewsDeleted(saveLater);
  addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") void save();
  });
};

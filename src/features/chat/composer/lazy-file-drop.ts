import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { loadWithIdleTexts } from "#i18n/setup.ts";
import { waitForTakeover } from "#lib/browser/first-view.ts";

/** `FileDropZone`, loaded once nothing of a first view remains. */
export const LazyFileDropZone = lazyComponent(async () => {
  await waitForTakeover();
  return loadWithIdleTexts(async () => ({ default: (await import("./file-drop.tsx")).FileDropZone }));
});

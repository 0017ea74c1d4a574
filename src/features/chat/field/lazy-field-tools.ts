import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { loadWithIdleTexts } from "#i18n/setup.ts";
import { waitForTakeover } from "#lib/browser/first-view.ts";

/** `FieldTools`, loaded once a message field is shown and nothing of a first view remains. */
export const LazyFieldTools = lazyComponent(async () => {
  await waitForTakeover();
  return loadWithIdleTexts(() => import("./field-tools.tsx"));
});

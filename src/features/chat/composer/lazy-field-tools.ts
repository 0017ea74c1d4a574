import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { loadWithIdleTexts } from "#i18n/setup.ts";

/** `FieldTools`, loaded once a message field is shown. */
export const LazyFieldTools = lazyComponent(() => loadWithIdleTexts(() => import("./field-tools.tsx")));

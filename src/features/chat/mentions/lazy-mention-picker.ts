import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { loadWithTexts } from "#i18n/setup.ts";
import type { MentionPickerProps } from "./mention-picker.tsx";

/** List of members for a mention, loaded with the first "@" in a group. */
export const MentionPicker = lazyComponent<MentionPickerProps>(() =>
  loadWithTexts(() => import("./mention-picker.tsx")),
);

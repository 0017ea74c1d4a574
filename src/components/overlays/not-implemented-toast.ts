import { t } from "#i18n/setup.ts";
import { showToast } from "./toast.tsx";

/** Toast for features that are not available yet (SPEC.md §2). */
export const showNotImplementedToast = (): void =>
  showToast({ title: t("common.notAvailableTitle"), message: t("common.notAvailable") });

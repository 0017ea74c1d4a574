import { t } from "../i18n/setup";
import { showToast } from "./toast";

/** The honest notice of what is not there yet (SPEC.md §2). */
export const sayNotYet = (): void =>
  showToast({ title: t("common.notAvailableTitle"), message: t("common.notAvailable") });

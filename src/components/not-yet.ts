import { t } from "../i18n/setup";
import { showToast } from "./toast";

/** The honest notice of what is not there yet (SPEC.md §2). */
export const sayNotYet = (what: "common.notAvailable" | "common.callsNotYet"): void =>
  showToast({ title: t("common.notAvailableTitle"), message: t(what) });

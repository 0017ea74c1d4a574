import { t } from "../i18n/setup";
import { showToast } from "./toast";

/** Gives words to the clipboard, and says so. */
export const copyText = async (words: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(words);
    showToast({ message: t("messages.copied") });
  } catch {
    showToast({ tone: "danger", title: t("common.error"), message: t("messages.copyFailed") });
  }
};

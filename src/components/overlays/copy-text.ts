import { t } from "#i18n/setup.ts";
import { showToast } from "./toast.tsx";

/** Gives words to the clipboard, and says so: of a message unless told otherwise. */
export const copyText = async (
  words: string,
  said = { done: t("messages.copied"), failed: t("messages.copyFailed") },
): Promise<void> => {
  try {
    await navigator.clipboard.writeText(words);
    showToast({ message: said.done });
  } catch {
    showToast({ tone: "danger", title: t("common.error"), message: said.failed });
  }
};

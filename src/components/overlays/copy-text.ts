import { t } from "#i18n/setup.ts";
import { showToast } from "./toast.tsx";

/** Copies text to the clipboard and shows a toast; by default its texts are those for a message. */
export const copyText = async (
  text: string,
  messages = { done: t("messages.copied"), failed: t("messages.copyFailed") },
): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text);
    showToast({ message: messages.done });
  } catch {
    showToast({ tone: "danger", title: t("common.error"), message: messages.failed });
  }
};

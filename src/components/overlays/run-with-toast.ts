import { t } from "#i18n/setup.ts";
import { showToast } from "./toast.tsx";

/** Runs an action and shows a toast with its result; returns whether it succeeded. */
export const runWithToast = async (
  work: () => Promise<void>,
  messages: { done?: string; failed: string },
): Promise<boolean> => {
  try {
    await work();
  } catch {
    showToast({ tone: "danger", title: t("common.error"), message: messages.failed });
    return false;
  }
  if (messages.done !== undefined) showToast({ message: messages.done });
  return true;
};

import { t } from "#i18n/setup.ts";
import { showToast } from "./toast.tsx";

/** Runs an action and shows a toast with its result; returns whether it succeeded. */
export const runWithToast = async (
  work: () => Promise<void>,
  said: { done?: string; failed: string },
): Promise<boolean> => {
  try {
    await work();
  } catch {
    showToast({ tone: "danger", title: t("common.error"), message: said.failed });
    return false;
  }
  if (said.done !== undefined) showToast({ message: said.done });
  return true;
};

import { t } from "#i18n/setup.ts";
import { announceResult, showToast } from "./toast.tsx";

/** Texts of an action: `done` is shown in a toast, `announced` is a result that the screen itself shows. */
export type ResultTexts = { done?: string; announced?: string; failed: string };

export const showResult = ({ done, announced }: ResultTexts): void => {
  if (announced !== undefined) announceResult(announced);
  if (done !== undefined) showToast({ message: done });
};

/** Runs an action and tells its result; returns whether it succeeded. */
export const runWithToast = async (work: () => Promise<void>, texts: ResultTexts): Promise<boolean> => {
  try {
    await work();
  } catch {
    showToast({ tone: "danger", title: t("common.error"), message: texts.failed });
    return false;
  }
  showResult(texts);
  return true;
};

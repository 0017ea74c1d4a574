import { t, withLaterTexts } from "#i18n/setup.ts";
import { showToast } from "./toast.tsx";

/** Code that is fetched, with its texts, when it is first needed; undefined, and said so, when it cannot be had now. */
export const loadOrTell = async <T>(load: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await withLaterTexts(load);
  } catch {
    showToast({ tone: "danger", title: t("common.error"), message: t("chat.attach.notHere") });
    return undefined;
  }
};

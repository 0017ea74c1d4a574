import { loadWithTexts, t } from "#i18n/setup.ts";
import { showToast } from "./toast.tsx";

/** Code that is fetched, with its texts, when it is first needed; undefined, and said so, when it cannot be had now. */
export const loadOrShowToast = async <T>(load: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await loadWithTexts(load);
  } catch {
    showToast({ tone: "danger", title: t("common.error"), message: t("chat.attach.notHere") });
    return undefined;
  }
};

import { loadWithTexts, t } from "#i18n/setup.ts";
import { showToast } from "./toast.tsx";

/** Loads code and its texts on demand. Returns undefined, after an error toast, if they cannot be fetched. */
export const loadOrShowToast = async <T>(
  load: () => Promise<T>,
  loadWith: typeof loadWithTexts = loadWithTexts,
): Promise<T | undefined> => {
  try {
    return await loadWith(load);
  } catch {
    showToast({ tone: "danger", title: t("common.error"), message: t("chat.attach.notHere") });
    return undefined;
  }
};

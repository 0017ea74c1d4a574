import { loadWithTexts, t } from "#i18n/setup.ts";
import { showToast } from "./toast.tsx";

let isReleaseReplaced = false;

/** Offers a reload, now and whenever code cannot be loaded: the server has only the files of another release. */
export const offerCurrentRelease = (): void => {
  isReleaseReplaced = true;
  const reload = () => location.reload();
  showToast({ message: t("shell.notice.updated"), action: { label: t("common.reload"), onSelect: reload } });
};

/** Loads code and its texts on demand. Returns undefined, after a toast, if they cannot be fetched. */
export const loadOrShowToast = async <T>(
  load: () => Promise<T>,
  loadWith: typeof loadWithTexts = loadWithTexts,
): Promise<T | undefined> => {
  try {
    return await loadWith(load);
  } catch {
    if (isReleaseReplaced) offerCurrentRelease();
    else showToast({ tone: "danger", title: t("common.error"), message: t("chat.attach.notHere") });
    return undefined;
  }
};

import { type ResultTexts, showResult } from "#components/overlays/run-with-toast.ts";
import { showToast } from "#components/overlays/toast.tsx";
import { t } from "#i18n/setup.ts";
import { asSyncError } from "#sync/platform/sync-error.ts";

const getFailureReason = (error: unknown): string => {
  const { code, retryAfterMs } = asSyncError(error);
  if (code === "rate_limited" && retryAfterMs !== undefined) {
    return t("shell.rateLimited", { count: Math.ceil(retryAfterMs / 1_000) });
  }
  return t(`errors.${code}`);
};

/** Shows a toast with the failed action and the reason. */
export const showGroupFailure = (failedText: string, error: unknown): void =>
  showToast({ tone: "danger", title: t("common.error"), message: `${failedText}\n${getFailureReason(error)}` });

/** Runs a group command and tells its result. Returns true if it succeeded. */
export const runGroupCommand = async (command: () => Promise<void>, texts: ResultTexts): Promise<boolean> => {
  try {
    await command();
  } catch (error) {
    showGroupFailure(texts.failed, error);
    return false;
  }
  showResult(texts);
  return true;
};

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

/** Says what could not be done, and why. */
export const showGroupFailure = (what: string, error: unknown): void =>
  showToast({ tone: "danger", title: t("common.error"), message: `${what}\n${getFailureReason(error)}` });

/** Does something to a group and says what came of it; answers whether it succeeded. */
export const runGroupCommand = async (
  work: () => Promise<void>,
  said: { done: string; failed: string },
): Promise<boolean> => {
  try {
    await work();
  } catch (error) {
    showGroupFailure(said.failed, error);
    return false;
  }
  showToast({ message: said.done });
  return true;
};

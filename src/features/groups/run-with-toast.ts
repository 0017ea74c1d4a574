import { showToast } from "#components/overlays/toast.tsx";
import { t } from "#i18n/setup.ts";
import { asSyncError } from "#sync/platform/sync-error.ts";

const reasonOf = (error: unknown): string => {
  const { code, retryAfterMs } = asSyncError(error);
  if (code === "rate_limited" && retryAfterMs !== undefined) {
    return t("shell.rateLimited", { count: Math.ceil(retryAfterMs / 1_000) });
  }
  return t(`errors.${code}`);
};

/** Says what could not be done, and why. */
export const sayFailure = (what: string, error: unknown): void =>
  showToast({ tone: "danger", title: t("common.error"), message: `${what}\n${reasonOf(error)}` });

/** Does something to a group and says what came of it; answers whether it succeeded. */
export const carryOut = async (work: () => Promise<void>, said: { done: string; failed: string }): Promise<boolean> => {
  try {
    await work();
  } catch (error) {
    sayFailure(said.failed, error);
    return false;
  }
  showToast({ message: said.done });
  return true;
};

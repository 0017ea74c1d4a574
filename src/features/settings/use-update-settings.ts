import { useTranslation } from "react-i18next";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import { changeSettings } from "#sync/hooks/use-settings.ts";
import type { SettingsPatch } from "#sync/store/settings-rows.ts";

/**
 * Returns a function that updates settings. The UI follows the store; a toast reports a failure to store the change.
 */
export const useUpdateSettings = (): ((change: SettingsPatch) => void) => {
  const { t } = useTranslation();
  return (change) => void runWithToast(() => changeSettings(change), { failed: t("settings.failed") });
};

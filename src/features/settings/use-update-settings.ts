import { useTranslation } from "react-i18next";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import { changeSettings } from "#sync/hooks/use-settings.ts";
import type { SettingsPatch } from "#sync/store/settings-rows.ts";

/** Changes settings, which show it by themselves; says when this phone cannot keep what is wanted. */
export const useUpdateSettings = (): ((wish: SettingsPatch) => void) => {
  const { t } = useTranslation();
  return (wish) => void runWithToast(() => changeSettings(wish), { failed: t("settings.failed") });
};

import { useTranslation } from "react-i18next";
import { attempt } from "#components/overlays/run-with-toast.ts";
import { changeSettings } from "#sync/hooks/use-settings.ts";
import type { SettingsWish } from "#sync/store/settings-rows.ts";

/** Changes settings, which show it by themselves; says when this phone cannot keep what is wanted. */
export const useChange = (): ((wish: SettingsWish) => void) => {
  const { t } = useTranslation();
  return (wish) => void attempt(() => changeSettings(wish), { failed: t("settings.failed") });
};

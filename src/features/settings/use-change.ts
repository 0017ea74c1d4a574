import { useTranslation } from "react-i18next";
import { attempt } from "../../components/attempt";
import type { SettingsWish } from "../../sync/settings";
import { changeSettings } from "../../sync/use-settings";

/** Changes settings, which show it by themselves; says when this phone cannot keep what is wanted. */
export const useChange = (): ((wish: SettingsWish) => void) => {
  const { t } = useTranslation();
  return (wish) => void attempt(() => changeSettings(wish), { failed: t("settings.failed") });
};

import type { SettingsChange } from "../../../contract/settings";
import { attempt } from "../../components/attempt";
import { useT } from "../../i18n/setup";
import { changeSettings } from "../../sync/use-settings";

/** Changes settings, which show it by themselves; says when this phone cannot keep what is wanted. */
export const useChange = (): ((change: SettingsChange) => void) => {
  const t = useT();
  return (change) => void attempt(() => changeSettings(change), { failed: t("settings.failed") });
};

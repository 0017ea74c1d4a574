import { useEffect } from "react";
import { showToast } from "../components/toast";
import { t } from "../i18n/setup";
import { subscribeNotices } from "../sync/engine";

/** Says what the local store and the link have to tell a person. A session that ended leads to the log-in by itself. */
export const useSyncNotices = (): void => {
  useEffect(
    () =>
      subscribeNotices((notice) => {
        if (notice === "store-reset") showToast({ message: t("shell.notice.storeReset") });
        if (notice === "settings-refused") showToast({ message: t("shell.notice.settingsRefused"), tone: "danger" });
        if (notice === "outdated") showToast({ message: t("errors.unknown_protocol"), tone: "danger" });
      }),
    [],
  );
};

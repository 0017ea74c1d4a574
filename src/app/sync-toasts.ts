import { useEffect } from "react";
import { type NavigateFunction, useNavigate } from "react-router";
import { showToast } from "#components/overlays/toast.tsx";
import { t } from "#i18n/setup.ts";
import { requireUpdate } from "#lib/browser/service-worker.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { subscribeNotices } from "#sync/engine.ts";
import { useAcceptances } from "#sync/hooks/use-acceptances.ts";
import type { PersonRow } from "#sync/store/database.ts";

const showAcceptedToast = ({ id, username }: PersonRow, navigate: NavigateFunction): void => {
  showToast({
    message: t("shell.notice.requestAccepted", { name: isolateBidi(username || t("common.user")) }),
    action: { label: t("people.message"), onSelect: () => navigate(`/app/chat/${id}`) },
  });
};

/** Shows a toast for each accepted request, delayed until the page is visible. */
export const useAcceptanceToasts = (): void => {
  const navigate = useNavigate();
  useAcceptances((person) => {
    if (document.visibilityState === "visible") showAcceptedToast(person, navigate);
    else document.addEventListener("visibilitychange", () => showAcceptedToast(person, navigate), { once: true });
  });
};

/**
 * Shows toasts for events of the local store and the connection. An ended session redirects to the log-in page without
 * a toast.
 */
export const useSyncToasts = (): void => {
  useEffect(
    () =>
      subscribeNotices((notice) => {
        if (notice === "store-reset") showToast({ message: t("shell.notice.storeReset") });
        if (notice === "unsent-lost") showToast({ message: t("shell.notice.unsentLost"), tone: "danger" });
        if (notice === "settings-refused") showToast({ message: t("shell.notice.settingsRefused"), tone: "danger" });
        if (notice === "outdated") {
          showToast({ message: t("errors.unknown_protocol"), tone: "danger" });
          void requireUpdate().catch(() => undefined);
        }
      }),
    [],
  );
};

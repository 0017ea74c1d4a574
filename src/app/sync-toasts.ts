import { useEffect } from "react";
import { type NavigateFunction, useNavigate } from "react-router";
import { showToast } from "#components/overlays/toast.tsx";
import type { ShownNotice } from "#features/notifier/sync-notices.ts";
import { loadWithIdleTexts, t } from "#i18n/setup.ts";
import { requireUpdate } from "#lib/browser/service-worker.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { subscribeNotices } from "#sync/engine/engine.ts";
import { useAcceptances } from "#sync/hooks/notices/use-acceptances.ts";
import type { PersonRow } from "#sync/store/database.ts";

const showAcceptedToast = ({ id, username }: PersonRow, navigate: NavigateFunction): void => {
  showToast({
    message: t("shell.notice.requestAccepted", { name: isolateBidi(username || t("common.user")) }),
    action: { label: t("people.message"), onSelect: () => navigate(`/app/chat/${id}`) },
  });
};

/**
 * Shows a toast when another person accepts a connection request of this person. If the page is hidden, the toast is
 * shown when the page becomes visible.
 */
export const useAcceptanceToasts = (): void => {
  const navigate = useNavigate();
  useAcceptances((person) => {
    if (document.visibilityState === "visible") showAcceptedToast(person, navigate);
    else document.addEventListener("visibilitychange", () => showAcceptedToast(person, navigate), { once: true });
  });
};

const loadNotifier = () => import("#features/notifier/notifier.tsx");

/** Shows a notice once its code is here: without a network it may have to wait for the next connection. */
const showNotice = (notice: ShownNotice): void => {
  loadWithIdleTexts(loadNotifier).then(
    (notifier) => notifier.showNotice(notice),
    () => addEventListener("online", () => showNotice(notice), { once: true }),
  );
};

/**
 * Shows a toast for each notice of the sync engine, such as lost unsent messages. An ended session (`signed-out`) needs
 * none, because the app then opens the log-in page.
 */
export const useSyncToasts = (): void => {
  useEffect(
    () =>
      subscribeNotices((notice) => {
        if (notice === "outdated") {
          showToast({ message: t("errors.unknown_protocol"), tone: "danger" });
          void requireUpdate().catch(() => undefined);
        } else if (notice !== "signed-out") showNotice(notice);
      }),
    [],
  );
};

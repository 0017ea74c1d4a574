import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { focusTitle } from "#components/focus/title-focus.ts";
import { devicesCardId, focusSecurityCard, passwordCardId } from "#features/security/security-changes.ts";
import { dismissNotices, useSecurityNotices } from "#sync/hooks/notices/use-security-notices.ts";
import { useSecurityNoticeText } from "./security-notice-text.ts";

const maxShownNotices = 4;

/** Links to the device list and the password for a user who did not make these changes. */
function NotYouLinks() {
  const { t } = useTranslation();
  const link = (card: Parameters<typeof focusSecurityCard>[0], label: string) => (
    <button
      type="button"
      className="min-h-11 text-left font-semibold text-accent underline"
      onClick={() => focusSecurityCard(card)}
    >
      {label}
    </button>
  );
  return (
    <p className="mt-1 flex flex-wrap items-center gap-x-4">
      <span>{t("security.notices.notYou")}</span>
      {link(devicesCardId, t("security.devices.title"))}
      {link(passwordCardId, t("auth.password"))}
    </p>
  );
}

/** Notices about changes made on other devices, newest first, until the user dismisses them. */
export function SecurityNoticeList() {
  const { t } = useTranslation();
  const toNoticeText = useSecurityNoticeText();
  const notices = useSecurityNotices().filter(({ event }) => event !== "reset_started");
  if (notices.length === 0) return null;
  const newest = notices.slice(-maxShownNotices);
  const moreCount = notices.length - newest.length;
  const close = () => {
    focusTitle();
    void dismissNotices(notices.map(({ id }) => id));
  };
  return (
    <section
      aria-label={t("security.notices.title")}
      className="flex items-start gap-3 rounded-card border border-line bg-surface py-1 pr-1 pl-4"
    >
      <span className="i-ph-shield-warning mt-3 shrink-0 text-2xl text-accent" aria-hidden="true" />
      <div className="min-w-0 flex-1 self-center py-2">
        <div role="status">
          <ul className="flex flex-col gap-1">
            {[...newest].reverse().map((notice) => (
              <li key={notice.id} className="break-words">
                {toNoticeText(notice)}
              </li>
            ))}
          </ul>
          {moreCount > 0 && (
            <p className="mt-1 text-sm text-muted">{t("security.notices.more", { count: moreCount })}</p>
          )}
        </div>
        <NotYouLinks />
      </div>
      <IconButton icon="i-ph-x" label={t("common.close")} onClick={close} />
    </section>
  );
}

import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { focusTitle } from "#components/focus/title-focus.ts";
import { devicesCard, focusCard, passwordCard } from "#features/security/changes.ts";
import { dismissNotices, useSecurityNotices } from "#sync/hooks/use-security-notices.ts";
import { useNoticeWords } from "./alert-text.ts";

const linesMax = 4;

/** Where to go for whoever did not do it themselves. */
function NotYou() {
  const { t } = useTranslation();
  const link = (card: Parameters<typeof focusCard>[0], words: string) => (
    <button
      type="button"
      className="min-h-11 text-left font-semibold text-accent underline"
      onClick={() => focusCard(card)}
    >
      {words}
    </button>
  );
  return (
    <p className="mt-1 flex flex-wrap items-center gap-x-4">
      <span>{t("security.notices.notYou")}</span>
      {link(devicesCard, t("security.devices.title"))}
      {link(passwordCard, t("auth.password"))}
    </p>
  );
}

/** What other devices did to the account, the newest first, until its person has seen it. */
export function RecentNews() {
  const { t } = useTranslation();
  const wordsOf = useNoticeWords();
  const news = useSecurityNotices().filter(({ event }) => event !== "reset_started");
  if (news.length === 0) return null;
  const newest = news.slice(-linesMax);
  const more = news.length - newest.length;
  const close = () => {
    focusTitle();
    void dismissNotices(news.map(({ id }) => id));
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
                {wordsOf(notice)}
              </li>
            ))}
          </ul>
          {more > 0 && <p className="mt-1 text-sm text-muted">{t("security.notices.more", { count: more })}</p>}
        </div>
        <NotYou />
      </div>
      <IconButton icon="i-ph-x" label={t("common.close")} onClick={close} />
    </section>
  );
}

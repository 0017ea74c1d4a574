import { IconButton } from "../../components/icon-button";
import { useT } from "../../i18n/setup";
import { dismissNotices, useSecurityNotices } from "../../sync/use-security-notices";
import { focusTitle } from "./changes";
import { useNoticeWords } from "./notice-words";

const linesMax = 4;

/** What other devices did to the account, the newest first, until its person has seen it. */
export function RecentNews() {
  const t = useT();
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
      <div role="status" className="min-w-0 flex-1 self-center py-2">
        <ul className="flex flex-col gap-1">
          {[...newest].reverse().map((notice) => (
            <li key={notice.id} className="break-words">
              {wordsOf(notice)}
            </li>
          ))}
        </ul>
        {more > 0 && <p className="mt-1 text-sm text-muted">{t("security.notices.more", { count: more })}</p>}
      </div>
      <IconButton icon="i-ph-x" label={t("common.close")} onClick={close} />
    </section>
  );
}

import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link, useLocation } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { IconButton } from "#components/controls/icon-button.tsx";
import { focusTitle, prepareTitleFocus } from "#components/focus/title-focus.ts";
import { showToast } from "#components/overlays/toast.tsx";
import { PageNotice } from "#components/overlays/toast-stack.tsx";
import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import { cancelPendingFactorReset } from "#features/security/security-api.ts";
import { useFormat } from "#i18n/use-format.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { dismissNotices } from "#sync/hooks/notices/use-security-notices.ts";
import { useSecurityNoticeText } from "./security-notice-text.ts";

/** Wraps a close handler so that the focus moves to the page title first. */
const closeAndFocusTitle = (onClose: () => void) => () => {
  focusTitle();
  onClose();
};

type NoticeCardProps = { words: ReactNode; onClose: () => void; children: ReactNode };

/** Alert over the page that stays until the user responds. */
function NoticeCard({ words, onClose, children }: NoticeCardProps) {
  const { t } = useTranslation();
  const close = closeAndFocusTitle(onClose);
  return (
    <section
      aria-label={t("security.notices.title")}
      className="rise pointer-events-auto mb-2 w-full max-w-104 rounded-card border border-danger bg-surface pb-2 text-text shadow-lg"
      onKeyDown={({ key }) => key === "Escape" && close()}
    >
      <div className="flex items-start gap-3 py-1 pr-1 pl-4">
        <span className="spare i-ph-warning-circle-fill mt-3 shrink-0 text-2xl text-danger" aria-hidden="true" />
        <p role="alert" className="min-w-0 flex-1 self-center py-2 leading-snug break-words">
          {words}
        </p>
        <IconButton icon="i-ph-x" label={t("common.close")} onClick={close} />
      </div>
      <div className="flex flex-col gap-1 px-4">{children}</div>
    </section>
  );
}

type SecurityPageLinkProps = { words: string; path?: string; onGo?: () => void };

function SecurityPageLink({ words, path = "/app/security", onGo }: SecurityPageLinkProps) {
  return (
    <Link
      to={path}
      className="flex min-h-11 items-center self-start font-semibold text-accent underline"
      onClick={onGo}
    >
      {words}
    </Link>
  );
}

/**
 * Alert about a requested second-factor reset: somebody knows the password and may not be the account's owner. One tap
 * cancels the reset. On a small screen the details are left to the security page.
 */
function FactorResetCard({ notice }: { notice: SecurityNotice }) {
  const { t } = useTranslation();
  const format = useFormat();
  const [isBusy, setBusy] = useState(false);
  const due = notice.due_at ?? notice.at;
  const cancel = async () => {
    const moveFocus = prepareTitleFocus();
    setBusy(true);
    try {
      await cancelPendingFactorReset();
    } catch (error) {
      setBusy(false);
      showToast({ tone: "danger", title: t("common.error"), message: toErrorText(error, t) });
      return;
    }
    moveFocus();
    showToast({ message: t("security.reset.kept") });
  };
  return (
    <NoticeCard words={<strong>{t("security.reset.title")}</strong>} onClose={() => void dismissNotices([notice.id])}>
      <p className="spare text-sm">{t("security.reset.body", { date: format.date(due), time: format.time(due) })}</p>
      <Button className="mt-2" busy={isBusy} onClick={() => void cancel()}>
        {t("security.reset.keep")}
      </Button>
      <SecurityPageLink words={t("security.notices.look")} />
    </NoticeCard>
  );
}

/** Strip above the page, covering nothing, with the newest notice and the number of further ones. */
function NoticeStrip({ notices, newest }: { notices: SecurityNotice[]; newest: SecurityNotice }) {
  const { t } = useTranslation();
  const toNoticeText = useSecurityNoticeText();
  const dismiss = () => void dismissNotices(notices.map(({ id }) => id));
  const close = closeAndFocusTitle(dismiss);
  const moreCount = notices.length - 1;
  return (
    <section
      aria-label={t("security.notices.title")}
      className="notice-strip shrink-0 border-b border-line bg-surface py-1 pr-2 pl-4 text-text"
      onKeyDown={({ key }) => key === "Escape" && close()}
    >
      <span className="spare i-ph-shield-warning mt-2 mr-3 text-2xl text-accent [grid-area:icon]" aria-hidden="true" />
      <div className="min-w-0 pt-2 leading-snug [grid-area:words]">
        <p role="alert" className="shortened break-words">
          {toNoticeText(newest)}
        </p>
        {moreCount > 0 && (
          <p className="spare text-sm text-muted">{t("security.notices.more", { count: moreCount })}</p>
        )}
      </div>
      <div className="[grid-area:go]">
        {newest.event.startsWith("number_") ? (
          <SecurityPageLink words={t("number.title")} path="/app/verify-number" onGo={dismiss} />
        ) : (
          <SecurityPageLink words={t("security.notices.notYou")} onGo={dismiss} />
        )}
      </div>
      <IconButton icon="i-ph-x" label={t("common.close")} className="ml-3 [grid-area:close]" onClick={close} />
    </section>
  );
}

/** Security notices about changes made elsewhere, until the user dismisses them. A pending reset takes precedence. */
export default function SecurityNoticeBanner({ notices }: { notices: SecurityNotice[] }) {
  // The security page shows the notices itself.
  const isOnPage = useLocation().pathname === "/app/security";
  const reset = notices.findLast(({ event }) => event === "reset_started");
  const otherNotices = notices.filter(({ event }) => event !== "reset_started");
  const newest = otherNotices.at(-1);
  if (isOnPage) return null;
  if (!reset) return newest && <NoticeStrip key={newest.id} notices={otherNotices} newest={newest} />;
  return (
    <PageNotice>
      <FactorResetCard key={reset.id} notice={reset} />
    </PageNotice>
  );
}

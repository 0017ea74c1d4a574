import { type ReactNode, useState } from "react";
import { Link, useLocation } from "react-router";
import type { SecurityNotice } from "../../../contract/security";
import { Button } from "../../components/button";
import { IconButton } from "../../components/icon-button";
import { Note } from "../../components/notes";
import { showToast } from "../../components/toast";
import { useFormat } from "../../i18n/format";
import { isSameDay } from "../../i18n/relative-date";
import { useT } from "../../i18n/setup";
import { failureText } from "../../lib/failure-text";
import { isolate } from "../../lib/isolate";
import { dismissNotices } from "../../sync/use-security-notices";
import { cancelReset } from "./account";

const useWhen = () => {
  const format = useFormat();
  return (at: number): string =>
    isSameDay(at, Date.now()) ? format.time(at) : `${format.date(at)}, ${format.time(at)}`;
};

type CardProps = { icon: string; isUrgent?: boolean; onClose: () => void; children: ReactNode };

function Card({ icon, isUrgent = false, onClose, children }: CardProps) {
  const t = useT();
  return (
    <section
      aria-label={t("security.notices.title")}
      className={`rise pointer-events-auto mb-2 flex w-full max-w-104 items-start gap-3 rounded-card border bg-surface py-1 pr-1 pl-4 text-text shadow-lg ${isUrgent ? "border-danger" : "border-line"}`}
      onKeyDown={({ key }) => key === "Escape" && onClose()}
    >
      <span
        className={`${icon} mt-3 shrink-0 text-2xl ${isUrgent ? "text-danger" : "text-accent"}`}
        aria-hidden="true"
      />
      <div className="flex min-w-0 flex-1 flex-col gap-1 py-2">{children}</div>
      <IconButton icon="i-ph-x" label={t("common.close")} onClick={onClose} />
    </section>
  );
}

function ToSecurity({ words, onGo }: { words: string; onGo?: () => void }) {
  return (
    <Link
      to="/app/security"
      className="flex min-h-11 items-center self-start font-semibold text-accent underline"
      onClick={onGo}
    >
      {words}
    </Link>
  );
}

/** Somebody who may not be this person has the password and wants the second step gone: one tap keeps it. */
function ResetCard({ notice }: { notice: SecurityNotice }) {
  const t = useT();
  const format = useFormat();
  const [isBusy, setBusy] = useState(false);
  const due = notice.due_at ?? notice.at;
  const cancel = async () => {
    setBusy(true);
    try {
      await cancelReset();
      showToast({ message: t("security.reset.kept") });
    } catch (error) {
      setBusy(false);
      showToast({ tone: "danger", title: t("common.error"), message: failureText(error, t) });
    }
  };
  return (
    <Card icon="i-ph-warning-circle-fill" isUrgent onClose={() => void dismissNotices([notice.id])}>
      <div role="alert">
        <p className="font-semibold">{t("security.reset.title")}</p>
        <p className="text-sm">{t("security.reset.body", { date: format.date(due), time: format.time(due) })}</p>
      </div>
      <Button className="mt-1" busy={isBusy} onClick={() => void cancel()}>
        {t("security.notices.cancelReset")}
      </Button>
      <ToSecurity words={t("security.notices.look")} />
    </Card>
  );
}

/** The newest of what was done, and how much else. */
function ChangesCard({ notices, newest }: { notices: SecurityNotice[]; newest: SecurityNotice }) {
  const t = useT();
  const when = useWhen();
  const { event, device, at } = newest;
  const dismiss = () => void dismissNotices(notices.map(({ id }) => id));
  const more = notices.length - 1;
  return (
    <Card icon="i-ph-shield-warning" onClose={dismiss}>
      <div role="alert">
        <p className="break-words">
          {t("security.notices.line", {
            event: t(`security.notices.${event}`),
            device: device === "" ? t("security.notices.unknownDevice") : isolate(device),
            when: when(at),
          })}
        </p>
        {more > 0 && <p className="text-sm text-muted">{t("security.notices.more", { count: more })}</p>}
      </div>
      <ToSecurity words={t("security.notices.notYou")} onGo={dismiss} />
    </Card>
  );
}

/** What another device, or somebody else, did to the account: over the page, until its person has seen it. */
export default function SecurityNotes({ notices }: { notices: SecurityNotice[] }) {
  // The page itself says it there, at its head.
  const isOnPage = useLocation().pathname === "/app/security";
  const reset = isOnPage ? undefined : notices.findLast(({ event }) => event === "reset_started");
  const others = notices.filter(({ event }) => event !== "reset_started");
  const newest = others.at(-1);
  return (
    <Note>
      {reset && <ResetCard key={reset.id} notice={reset} />}
      {newest && <ChangesCard key={newest.id} notices={others} newest={newest} />}
    </Note>
  );
}

import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { CallButtons } from "#calls/ui/call-buttons.tsx";
import { formatCallEntry, toCallEntry } from "#components/messages/call-text.ts";
import { showToast } from "#components/overlays/toast.tsx";
import { Avatar } from "#components/people/avatar.tsx";
import { unknownPerson } from "#components/people/avatar-text.ts";
import { showBlockedCallToast } from "#components/people/blocked-call-toast.ts";
import { toDisplayName } from "#components/people/person-name.ts";
import { formatTimeOrDate } from "#i18n/relative-date.ts";
import { useLanguage } from "#i18n/setup.ts";
import { balanceBidi } from "#lib/text/bidi.ts";
import type { ListedCall } from "#sync/hooks/use-calls.ts";

const shownFirst = 5;

/** Row of a call: who, direction and outcome, time. Picture and name open the chat, the handset calls back. */
function RecentCallRow({ call }: { call: ListedCall }) {
  const { t } = useTranslation();
  const language = useLanguage();
  const { peer, person, body, at } = call;
  const name = toDisplayName(person, t);
  const entry = toCallEntry(body, { isMine: call.mine, peerName: "" }, t);
  const refuse =
    person?.blocked === 1
      ? () => showBlockedCallToast(name)
      : person?.state === "contact"
        ? undefined
        : () => showToast({ tone: "danger", title: t("people.notConnectedTitle"), message: t("people.notConnected") });
  return (
    <li className="flex min-h-18 items-center gap-1 border-b border-line pr-2 has-[a:hover]:bg-raised">
      <Link
        to={`/app/chat/${peer}`}
        className="flex min-h-18 min-w-0 flex-1 items-center gap-3 py-2 pl-4 -outline-offset-3"
      >
        <Avatar person={person ?? unknownPerson} />
        <span className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3">
          <span className="flex min-w-[min(100%,7rem)] flex-1 flex-col">
            <bdi className={`truncate font-semibold ${entry.isUnsuccessful ? "text-danger" : ""}`}>
              {balanceBidi(name)}
            </bdi>
            <span className="flex items-center gap-1.5 text-sm text-muted">
              <span
                className={`shrink-0 ${call.mine ? "i-ph-arrow-up-right-bold" : "i-ph-arrow-down-left-bold"} ${entry.isUnsuccessful ? "text-danger" : ""}`}
                aria-hidden="true"
              />
              <span className="min-w-0 [overflow-wrap:anywhere]">
                {/* A duration stays on one line. */}
                {formatCallEntry({ ...entry, duration: entry.duration?.replaceAll(" ", "\u00a0") }, t)}
              </span>
            </span>
          </span>
          <time dateTime={new Date(at).toISOString()} className="shrink-0 text-xs text-muted tabular-nums">
            {formatTimeOrDate(at, language)}
          </time>
        </span>
      </Link>
      <span className="text-accent">
        <CallButtons peer={peer} name={name} kinds={[body.kind]} refuse={refuse} />
      </span>
    </li>
  );
}

const headingClasses = "px-4 pt-3 pb-1 text-sm font-semibold text-muted";

/** Recent calls of all chats, above the contacts. */
export function RecentCalls({ calls }: { calls: readonly ListedCall[] }) {
  const { t } = useTranslation();
  const [isExpanded, setExpanded] = useState(false);
  if (calls.length === 0) return null;
  return (
    <>
      <h2 className={headingClasses}>{t("makutano.recent")}</h2>
      <ul aria-label={t("makutano.recent")}>
        {(isExpanded ? calls : calls.slice(0, shownFirst)).map((call) => (
          <RecentCallRow key={call.body.id} call={call} />
        ))}
      </ul>
      {!isExpanded && calls.length > shownFirst && (
        <button
          type="button"
          className="min-h-12 w-full px-4 text-start font-semibold text-accent hover:bg-raised"
          onClick={() => setExpanded(true)}
        >
          {t("makutano.more")}
        </button>
      )}
      <h2 className={headingClasses}>{t("makutano.contacts")}</h2>
    </>
  );
}

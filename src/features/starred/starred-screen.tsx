import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useLocation, useNavigate } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { IconButton } from "#components/controls/icon-button.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { PaneSpinner } from "#components/layout/pane-spinner.tsx";
import { Screen } from "#components/layout/screen.tsx";
import { toPreviewParts } from "#components/messages/message-preview-text.ts";
import { showToast } from "#components/overlays/toast.tsx";
import { toDisplayName } from "#components/people/person-name.ts";
import { formatTimeOrDate } from "#i18n/relative-date.ts";
import { useLanguage } from "#i18n/setup.ts";
import { balanceBidi } from "#lib/text/bidi.ts";
import { setStarred } from "#sync/actions/message-actions.ts";
import type { StarredMessage } from "#sync/queries/starred-messages.ts";
import { useStarredMessages } from "./use-starred-messages.ts";

const pageSize = 30;

/** Starred message: where it was written and by whom, its text, and the button that removes the star. */
function StarredRow({ star, hidesPlace }: { star: StarredMessage; hidesPlace: boolean }) {
  const { t } = useTranslation();
  const language = useLanguage();
  const navigate = useNavigate();
  const { conversation, seq, message, group, person } = star;
  const place = group ? group.name : toDisplayName(person, t);
  const sender = message?.mine === 1 ? t("common.you") : group ? star.sender?.name || t("common.user") : place;
  const preview = message && toPreviewParts(message.body, t, undefined);
  const removeStar = async () => {
    const showFailure = () => showToast({ tone: "danger", message: t("starred.failed") });
    try {
      await setStarred(conversation, seq, false);
    } catch {
      return showFailure();
    }
    const undo = () => void setStarred(conversation, seq, true).catch(showFailure);
    showToast({ message: t("starred.removed"), action: { label: t("masolo.undo"), onSelect: undo } });
  };
  const open = () =>
    void navigate(group ? `/app/group/${conversation}` : `/app/chat/${star.peer}`, { state: { openAt: seq } });
  return (
    <li className="flex items-center border-b border-line pr-2">
      <button
        type="button"
        className="grid min-h-12 min-w-0 flex-1 grid-cols-[minmax(0,1fr)] gap-0.5 py-2.5 pr-2 pl-4 text-start outline-offset-[-3px] hover:bg-raised"
        onClick={open}
      >
        <span className="flex items-baseline justify-between gap-2 text-xs text-muted">
          <span className="truncate">
            <bdi className="font-semibold">{sender}</bdi>
            {!hidesPlace && place !== sender && (
              <>
                {" · "}
                <bdi>{place}</bdi>
              </>
            )}
          </span>
          {message && (
            <time dateTime={new Date(message.at).toISOString()} className="shrink-0 tabular-nums">
              {formatTimeOrDate(message.at, language)}
            </time>
          )}
        </span>
        <span className="flex items-start gap-1.5">
          {preview?.icon && (
            <span className={`${preview.icon} mt-1 shrink-0 text-base text-muted`} aria-hidden="true" />
          )}
          <bdi
            className={`line-clamp-3 text-start whitespace-pre-line [unicode-bidi:plaintext] [overflow-wrap:anywhere] ${preview ? "" : "text-muted"}`}
          >
            {preview ? balanceBidi(preview.text) : t("starred.notHere")}
          </bdi>
        </span>
      </button>
      <IconButton
        icon="i-ph-star-fill"
        className="text-accent"
        label={t("starred.remove")}
        onClick={() => void removeStar()}
      />
    </li>
  );
}

/** Starred messages of all conversations, or of the one that the address names (`?chat=`), newest star first. */
export default function StarredScreen() {
  const { t } = useTranslation();
  const conversation = new URLSearchParams(useLocation().search).get("chat") ?? undefined;
  const [limit, setLimit] = useState(pageSize);
  const starred = useStarredMessages(conversation, limit);
  return (
    <Screen
      title={t("starred.title")}
      description={t("starred.description")}
      backPath="/app"
      backMode="previous"
      hasProfileButton={false}
    >
      {!starred ? (
        <PaneSpinner />
      ) : starred.messages.length === 0 ? (
        <div className="my-auto">
          <EmptyState icon="i-ph-star" title={t("starred.none")} body={t("starred.noneBody")} />
        </div>
      ) : (
        <ul aria-label={t("starred.title")}>
          {starred.messages.map((star) => (
            <StarredRow key={`${star.conversation}:${star.seq}`} star={star} hidesPlace={conversation !== undefined} />
          ))}
        </ul>
      )}
      {starred?.hasMore && (
        <div className="p-4">
          <Button variant="secondary" className="w-full" onClick={() => setLimit(limit + pageSize)}>
            {t("starred.more")}
          </Button>
        </div>
      )}
    </Screen>
  );
}

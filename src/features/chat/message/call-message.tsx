import { useContext } from "react";
import { useTranslation } from "react-i18next";
import { formatMegabytes, toldFromBytes } from "#calls/ui/data-cost.ts";
import { IconButton } from "#components/controls/icon-button.tsx";
import { callLine } from "#components/messages/call-text.ts";
import type { CallBody } from "#contract/calls/call.ts";
import { formatTime } from "#i18n/format.ts";
import { useLanguage } from "#i18n/setup.ts";
import { isolate } from "#lib/text/bidi.ts";
import { type ChatItem, useCallUses } from "#sync/hooks/use-live-query.ts";
import type { BubbleDeeds } from "./bubble.tsx";
import { callHighPx } from "./bubble-box.ts";
import { CallDeedsContext } from "./call-actions-context.ts";
import { usePressMenu } from "./use-long-press-menu.ts";

type CallRowProps = {
  item: ChatItem;
  body: CallBody;
  /** The other person. */
  name: string;
  author: string;
  endsRun: boolean;
  isTarget: boolean;
  isTabStop: boolean;
  deeds: Pick<BubbleDeeds, "openMenu">;
};

/** What is told below the outcome: which way it went, how long they talked, what it cost this phone, and when. */
function Facts({ item, body, length }: { item: ChatItem; body: CallBody; length: string | undefined }) {
  const language = useLanguage();
  const bytes = useCallUses()?.[body.id] ?? 0;
  const facts = [
    ...(length === undefined ? [] : [length]),
    ...(bytes < toldFromBytes ? [] : [formatMegabytes(bytes, language)]),
  ];
  return (
    <span className="flex flex-wrap items-center gap-x-1.5 text-xs text-muted tabular-nums">
      <span className={item.mine ? "i-ph-arrow-up-right-bold" : "i-ph-arrow-down-left-bold"} aria-hidden="true" />
      {facts.map((fact) => (
        <span key={fact}>
          {fact}
          <span aria-hidden="true"> ·</span>
        </span>
      ))}
      <time dateTime={new Date(item.at).toISOString()}>{formatTime(item.at, language)}</time>
    </span>
  );
}

const callWords = {
  again: { audio: "callLines.again.audio", video: "callLines.again.video" },
  back: { audio: "callLines.back.audio", video: "callLines.back.video" },
} as const;

const round = "grid size-10 shrink-0 place-items-center rounded-full text-[22px]";

/** A call in the log, at its caller's side. Its handset alone calls back; one that was missed can be answered by voice. */
export default function CallRow({ item, body, name, author, endsRun, isTarget, isTabStop, deeds }: CallRowProps) {
  const { t } = useTranslation();
  const can = useContext(CallDeedsContext);
  const press = usePressMenu(can && ((anchor) => deeds.openMenu(item, anchor)));
  const { mine } = item;
  const line = callLine(body, { isMine: mine, name }, t);
  const tabIndex = isTabStop ? 0 : -1;
  const canSpeak = body.status === "missed" && can?.speak !== undefined;
  const corner = endsRun ? (mine ? "rounded-br-[6px]" : "rounded-bl-[6px]") : "";
  return (
    <div className={`flex flex-col px-3 ${mine ? "items-end" : "items-start"} ${endsRun ? "pb-2" : "pb-0.5"}`}>
      <div
        className={`flex max-w-[min(85%,34rem)] items-center overflow-hidden rounded-bubble py-1 pr-1 pl-3 select-none ${corner} ${
          mine ? "bg-own" : "bg-surface shadow-[inset_0_0_0_1px_var(--line)]"
        } ${isTarget ? "ring-2 ring-accent" : ""}`}
        style={{ minHeight: callHighPx }}
        {...press}
      >
        <p className="min-w-0 flex-1 py-1 pr-1.5">
          <span className="sr-only">{author} </span>
          <span
            className={`block font-medium leading-[1.4] [overflow-wrap:anywhere] ${line.isBad ? "text-danger" : ""}`}
          >
            <bdi>{line.text}</bdi>
          </span>
          <Facts item={item} body={body} length={line.length} />
        </p>
        {canSpeak && (
          <IconButton
            icon="i-ph-microphone"
            label={t("callLines.speak")}
            tabIndex={tabIndex}
            className="text-accent"
            onClick={can.speak}
          />
        )}
        {can ? (
          <button
            type="button"
            data-message-menu=""
            tabIndex={tabIndex}
            aria-label={t(callWords[mine ? "again" : "back"][body.kind], { name: isolate(name) })}
            className="group/call grid size-12 shrink-0 place-items-center rounded-full"
            onClick={() => can.callBack(body.kind)}
          >
            <span className={`${round} bg-accent-soft text-accent group-hover/call:brightness-95`} aria-hidden="true">
              <span className={body.kind === "video" ? "i-ph-video-camera" : "i-ph-phone"} />
            </span>
          </button>
        ) : (
          <span
            className={`${round} m-1 ${line.isBad ? "bg-danger-soft text-danger" : "bg-accent-soft text-accent"}`}
            aria-hidden="true"
          >
            <span className={line.icon} />
          </span>
        )}
      </div>
    </div>
  );
}

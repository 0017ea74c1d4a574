import { useContext } from "react";
import { useTranslation } from "react-i18next";
import { dataUseMinBytes, formatMegabytes } from "#calls/ui/data-cost.ts";
import { IconButton } from "#components/controls/icon-button.tsx";
import { toCallEntry } from "#components/messages/call-text.ts";
import type { CallBody } from "#contract/calls/call.ts";
import { formatTime } from "#i18n/format.ts";
import { useLanguage } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { useCallDataUse } from "#sync/hooks/use-calls.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
import type { BubbleActions } from "./bubble.tsx";
import { callHeightPx } from "./bubble-metrics.ts";
import { ChatCallActionsContext } from "./call-actions-context.ts";
import { useLongPressMenu } from "./use-long-press-menu.ts";

type CallMessageProps = {
  item: ChatItem;
  body: CallBody;
  peerName: string;
  authorLabel: string;
  endsRun: boolean;
  isTarget: boolean;
  isTabStop: boolean;
  actions: Pick<BubbleActions, "openMenu">;
};

/** Details below the outcome of a call: direction, duration, data use on this device and time. */
function CallDetails({ item, body, duration }: { item: ChatItem; body: CallBody; duration: string | undefined }) {
  const language = useLanguage();
  const bytes = useCallDataUse()?.[body.id] ?? 0;
  const details = [
    ...(duration === undefined ? [] : [duration]),
    ...(bytes < dataUseMinBytes ? [] : [formatMegabytes(bytes, language)]),
  ];
  return (
    <span className="flex flex-wrap items-center gap-x-1.5 text-xs text-muted tabular-nums">
      <span className={item.mine ? "i-ph-arrow-up-right-bold" : "i-ph-arrow-down-left-bold"} aria-hidden="true" />
      {details.map((detail) => (
        <span key={detail}>
          {detail}
          <span aria-hidden="true"> ·</span>
        </span>
      ))}
      <time dateTime={new Date(item.at).toISOString()}>{formatTime(item.at, language)}</time>
    </span>
  );
}

const callBackLabels = {
  again: { audio: "callLines.again.audio", video: "callLines.again.video" },
  back: { audio: "callLines.back.audio", video: "callLines.back.video" },
} as const;

const roundIconClasses = "grid size-10 shrink-0 place-items-center rounded-full text-[22px]";

/** Call entry at the side of its caller. Only the handset button calls back; a missed call offers a voice message. */
export default function CallMessage({
  item,
  body,
  peerName,
  authorLabel,
  endsRun,
  isTarget,
  isTabStop,
  actions,
}: CallMessageProps) {
  const { t } = useTranslation();
  const callActions = useContext(ChatCallActionsContext);
  const longPressHandlers = useLongPressMenu(callActions && ((anchor) => actions.openMenu(item, anchor)));
  const { mine } = item;
  const entry = toCallEntry(body, { isMine: mine, peerName }, t);
  const tabIndex = isTabStop ? 0 : -1;
  const canRecord = body.status === "missed" && callActions?.startRecording !== undefined;
  const corner = endsRun ? (mine ? "rounded-br-[6px]" : "rounded-bl-[6px]") : "";
  return (
    <div className={`flex flex-col px-3 ${mine ? "items-end" : "items-start"} ${endsRun ? "pb-2" : "pb-0.5"}`}>
      <div
        className={`flex max-w-[min(85%,34rem)] items-center overflow-hidden rounded-bubble py-1 pr-1 pl-3 select-none ${corner} ${
          mine ? "bg-own" : "bg-surface"
        } ${isTarget ? "shadow-[0_0_0_2px_var(--accent)]" : mine ? "" : "shadow-[inset_0_0_0_1px_var(--line)]"}`}
        style={{ minHeight: callHeightPx }}
        {...longPressHandlers}
      >
        <p className="min-w-0 flex-1 py-1 pr-1.5">
          <span className="sr-only">{authorLabel} </span>
          <span
            className={`block font-medium leading-[1.4] [overflow-wrap:anywhere] ${entry.isUnsuccessful ? "text-danger" : ""}`}
          >
            <bdi>{entry.text}</bdi>
          </span>
          <CallDetails item={item} body={body} duration={entry.duration} />
        </p>
        {canRecord && (
          <IconButton
            icon="i-ph-microphone"
            label={t("callLines.speak")}
            tabIndex={tabIndex}
            className="text-accent"
            onClick={callActions.startRecording}
          />
        )}
        {callActions ? (
          <button
            type="button"
            data-message-menu=""
            tabIndex={tabIndex}
            aria-label={t(callBackLabels[mine ? "again" : "back"][body.kind], { name: isolateBidi(peerName) })}
            className="group/call grid size-12 shrink-0 place-items-center rounded-full"
            onClick={() => callActions.callBack(body.kind)}
          >
            <span
              className={`${roundIconClasses} bg-accent-soft text-accent group-hover/call:brightness-95`}
              aria-hidden="true"
            >
              <span className={body.kind === "video" ? "i-ph-video-camera" : "i-ph-phone"} />
            </span>
          </button>
        ) : (
          <span
            className={`${roundIconClasses} m-1 ${entry.isUnsuccessful ? "bg-danger-soft text-danger" : "bg-accent-soft text-accent"}`}
            aria-hidden="true"
          >
            <span className={entry.icon} />
          </span>
        )}
      </div>
    </div>
  );
}

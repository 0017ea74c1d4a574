import { memo } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { describeMessage } from "#components/messages/message-preview.tsx";
import { MessageTicks } from "#components/messages/message-ticks.tsx";
import type { MenuAnchor } from "#components/overlays/menu.tsx";
import type { StoredBody } from "#contract/conversations.ts";
import { type ConversationId, nobody, type Uuid } from "#contract/ids.ts";
import { formatTime } from "#i18n/format.ts";
import { useLanguage } from "#i18n/setup.ts";
import { isolate } from "#lib/text/bidi.ts";
import { type ChatItem, usePerson } from "#sync/hooks/use-live-query.ts";
import { besidePx, listEdgePx } from "./bubble-box.ts";
import { BubbleContent } from "./bubble-content.tsx";
import { FailedActions } from "./failed-message.tsx";
import { isOver, type Standing, withoutUpload } from "./failed-reason.ts";
import { isReadable, isSame } from "./message-equality.ts";
import type { Placement } from "./message-layout.ts";
import { isRightToLeft } from "./message-text.tsx";
import { WriterName, WriterPicture } from "./sender-label.tsx";
import type { Writer } from "./senders.ts";
import { usePressMenu } from "./use-long-press-menu.ts";

/** What one can do with a message; the same object for all bubbles of a list. */
export type BubbleDeeds = {
  openMenu: (item: ChatItem, anchor: MenuAnchor) => void;
  openPicture: (item: ChatItem) => void;
  unfold: (key: string) => void;
};

export type BubbleProps = {
  conversation: ConversationId;
  item: ChatItem;
  me: Uuid;
  /** Who wrote it, for a screen reader. */
  author: string;
  /** Among several others: whose name and picture stand with it. */
  writer: Writer | undefined;
  placement: Placement;
  isTarget: boolean;
  /** A long text that was opened. */
  isOpen: boolean;
  standing: Standing;
  /** The tab key stops at the menu of one message; the arrow keys go on from there. */
  isTabStop: boolean;
  deeds: BubbleDeeds;
};

/** By the name that was told with it, unless it is nobody's any more, as the message says or this device knows. */
function ForwardedLine({ from: { by, name }, me }: { from: { by: Uuid; name: string }; me: Uuid }) {
  const { t } = useTranslation();
  const isGone = usePerson(by)?.deleted === 1 || by === nobody;
  const author = isGone ? t("common.deletedAccount") : name || t("common.user");
  return (
    <p className="flex h-[22px] items-end gap-1 px-3 text-xs text-muted">
      <span className="i-ph-arrow-bend-up-right text-sm" aria-hidden="true" />
      <span className="min-w-0 truncate">
        {t("messages.forwardedFrom", { name: by === me ? t("messages.you") : isolate(author) })}
      </span>
    </p>
  );
}

const captionOf = (body: StoredBody): string => ("text" in body ? (body.text ?? "") : "");

/** One message. The time stands in the corner of what it says; stacked accents are cut at the bubble's edge. */
function BubbleView({ conversation, item, me, author, writer, placement, deeds, ...props }: BubbleProps) {
  const { t } = useTranslation();
  const { body, mine, at, status, cid } = item;
  const { endsRun, isBeside, isNamed } = placement;
  const time = formatTime(at, useLanguage());
  const isDone = !isReadable(body);
  const press = usePressMenu(isDone ? undefined : (anchor) => deeds.openMenu(item, anchor));
  const isOnPicture = body.type === "image" && body.text === undefined;
  const isRtl = isRightToLeft(captionOf(body));
  const corner = endsRun ? (mine ? "rounded-br-[6px]" : "rounded-bl-[6px]") : "";
  return (
    <div
      className={`group relative flex flex-col px-3 ${mine ? "items-end" : "items-start"} ${endsRun ? "pb-2" : "pb-0.5"}`}
      style={isBeside ? { paddingLeft: listEdgePx + besidePx } : undefined}
    >
      {isBeside && endsRun && writer && <WriterPicture writer={writer} />}
      <div className="relative max-w-[min(85%,34rem)]" {...press}>
        <div
          className={`relative overflow-hidden rounded-bubble [-webkit-touch-callout:none] [@media(hover:none)]:select-none ${corner} ${
            mine ? "bg-own" : "bg-surface shadow-[inset_0_0_0_1px_var(--line)]"
          } ${props.isTarget ? "ring-2 ring-accent" : ""}`}
        >
          <span className="sr-only">{author} </span>
          {isNamed && writer && <WriterName writer={writer} />}
          {"forwarded" in body && body.forwarded && <ForwardedLine from={body.forwarded} me={me} />}
          <BubbleContent
            conversation={conversation}
            item={status === "failed" && isOver(props.standing) ? withoutUpload(item) : item}
            time={time}
            description={`${author} ${describeMessage(body, t)}, ${time}`}
            isOpen={props.isOpen}
            onOpen={() => deeds.openPicture(item)}
            onUnfold={() => deeds.unfold(item.key)}
          />
          <span
            className={`pointer-events-none absolute bottom-1.5 flex items-center gap-1 text-xs tabular-nums ${isRtl ? "left-3" : "right-3"} ${
              isOnPicture
                ? "mr-[-2px] mb-0.5 rounded-full bg-black/60 px-2 py-px text-white [--muted:#fff] [--read:#9ccbff]"
                : "text-muted"
            }`}
          >
            <time dateTime={new Date(at).toISOString()}>{time}</time>
            {mine && <MessageTicks status={status} />}
          </span>
        </div>
        {!isDone && (
          <IconButton
            icon="i-ph-dots-three-vertical-bold"
            label={t("messages.options", { time })}
            aria-haspopup="menu"
            data-message-menu=""
            tabIndex={props.isTabStop ? 0 : -1}
            className={`absolute top-[-4px] text-muted opacity-0 focus-visible:opacity-100 group-hover:opacity-100 [@media(hover:none)]:pointer-events-none ${
              mine ? "right-full" : "left-full"
            }`}
            onClick={(event) => deeds.openMenu(item, event.currentTarget.getBoundingClientRect())}
          />
        )}
      </div>
      {status === "failed" && cid && <FailedActions cid={cid} error={item.error} standing={props.standing} />}
    </div>
  );
}

/** A message that did not change is not drawn again when another arrives. */
export const Bubble = memo(BubbleView, isSame);

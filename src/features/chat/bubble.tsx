import { memo } from "react";
import type { StoredBody } from "../../../contract/conversations";
import type { ErrorCode } from "../../../contract/errors";
import type { Uuid } from "../../../contract/ids";
import { MessageTicks } from "../../components/message-ticks";
import { formatTime } from "../../i18n/format";
import { useLanguage, useT } from "../../i18n/setup";
import type { ShownStatus } from "../../sync/hooks";
import { FailedActions } from "./failed-actions";

export type BubbleProps = {
  kind: StoredBody["type"];
  text: string;
  at: number;
  mine: boolean;
  /** Who wrote it, for a screen reader. */
  author: string;
  status: ShownStatus;
  error: ErrorCode | undefined;
  cid: Uuid | undefined;
  endsGroup: boolean;
  isTarget: boolean;
};

const rightToLeft = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;

/**
 * One message. The time stands in the corner of the last line, where room for it is kept by an invisible copy;
 * the text is isolated, so that marks that reorder reach no further than the text itself, and stacked accents
 * are cut at the bubble's edge.
 */
function BubbleView({ kind, text, at, mine, author, status, ...props }: BubbleProps) {
  const t = useT();
  const time = formatTime(at, useLanguage());
  const isRtl = rightToLeft.test(text);
  const isText = kind === "text";
  const corner = props.endsGroup ? (mine ? "rounded-br-[6px]" : "rounded-bl-[6px]") : "";
  return (
    <div className={`flex flex-col px-3 ${mine ? "items-end" : "items-start"} ${props.endsGroup ? "pb-2" : "pb-0.5"}`}>
      <div
        className={`relative max-w-[min(85%,34rem)] overflow-hidden rounded-bubble px-3 py-2 ${corner} ${
          mine ? "bg-own" : "bg-surface shadow-[inset_0_0_0_1px_var(--line)]"
        } ${props.isTarget ? "ring-2 ring-accent" : ""}`}
      >
        <span className="sr-only">{author} </span>
        <p
          dir={isRtl ? "rtl" : "ltr"}
          className={`whitespace-pre-wrap text-start leading-[1.4] [overflow-wrap:anywhere] ${isText ? "" : "text-muted italic"}`}
        >
          <bdi>{isText ? text : t(kind === "deleted" ? "chat.deletedMessage" : "chat.unreadable")}</bdi>
          <span
            aria-hidden="true"
            data-time={time}
            className={`invisible inline-block text-xs tabular-nums before:content-[attr(data-time)] ${mine ? "px-4" : "px-2"}`}
          />
        </p>
        <span
          className={`absolute bottom-1.5 flex items-center gap-1 text-xs text-muted tabular-nums ${isRtl ? "left-3" : "right-3"}`}
        >
          <time dateTime={new Date(at).toISOString()}>{time}</time>
          {mine && <MessageTicks status={status} />}
        </span>
      </div>
      {status === "failed" && props.cid && <FailedActions cid={props.cid} error={props.error} />}
    </div>
  );
}

/** Takes plain values only: a message that did not change is not rendered again when another arrives. */
export const Bubble = memo(BubbleView);

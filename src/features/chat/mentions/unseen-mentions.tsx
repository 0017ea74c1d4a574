import { type ComponentType, useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { CountBadge } from "#components/controls/count-badge.tsx";
import type { ChatItem } from "#sync/hooks/use-chat.ts";

type MentionButtonProps = {
  mentions: UnseenMentions;
  /** First and last message that the list shows. */
  shown: readonly [first: ChatItem | undefined, last: ChatItem | undefined];
  /** False while something covers the list. */
  isSeen: boolean;
  /** Whether another button stands below it. */
  isRaised: boolean;
  /** Scrolls to a message. */
  onJump: (seq: number) => void;
};

/** Mentions that were unread when the chat was opened, or arrived since, and that the list has not shown yet. */
export type UnseenMentions = {
  /** Seqs in ascending order. */
  seqs: readonly number[];
  /** Reports which part of the chat the list shows. */
  onShown: (first: number, last: number) => void;
  Button: ComponentType<MentionButtonProps>;
};

/** Button that scrolls to the first mention that was not shown yet, with their number. */
function MentionButton({ mentions: { seqs, onShown }, shown, isSeen, isRaised, onJump }: MentionButtonProps) {
  const { t } = useTranslation();
  const [first, last] = shown.map((item) => item?.seq); // an unsent message has none
  useEffect(() => {
    if (isSeen && first !== undefined) onShown(first, last ?? Number.POSITIVE_INFINITY);
  }, [isSeen, first, last, onShown]);
  const [next] = seqs;
  if (next === undefined) return null;
  return (
    <button
      type="button"
      aria-label={t("chat.mention.next", { count: seqs.length })}
      className={`absolute right-3 z-1 grid size-12 place-items-center rounded-full border border-line bg-surface text-[20px] font-bold text-accent shadow-md ${isRaised ? "bottom-[4.25rem]" : "bottom-3"}`}
      onClick={() => onJump(next)}
    >
      <span aria-hidden="true">@</span>
      <span aria-hidden="true" className="absolute -top-1 -right-1">
        <CountBadge count={seqs.length} />
      </span>
    </button>
  );
}

const noSeqs: readonly number[] = [];

/**
 * Unread mentions of the open chat. They are kept here because opening a chat reads its messages, which ends the unread
 * mentions of its row before they were shown. Deleted ones are left out.
 */
export const useUnseenMentions = (
  unread: readonly number[] = noSeqs,
  items: readonly ChatItem[] | undefined,
): UnseenMentions => {
  const [unseen, setUnseen] = useState(unread);
  useEffect(() => {
    if (unread.length > 0) setUnseen((before) => [...new Set([...before, ...unread])].sort((a, b) => a - b));
  }, [unread]);
  const onShown = useCallback(
    (first: number, last: number) =>
      setUnseen((before) => {
        const left = before.filter((seq) => seq < first || seq > last);
        return left.length < before.length ? left : before;
      }),
    [],
  );
  const isDeleted = (seq: number) => items?.some((item) => item.seq === seq && item.body.type === "deleted");
  return { seqs: unseen.filter((seq) => !isDeleted(seq)), onShown, Button: MentionButton };
};

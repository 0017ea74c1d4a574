import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { MenuButton } from "#components/overlays/menu.tsx";
import { type GroupCard, isGroupActionAllowed } from "#contract/groups.ts";
import type { ConversationId } from "#contract/ids.ts";
import type { ChatPeople } from "#features/chat/message/senders.ts";
import { pinWithToast } from "#features/chat/reply/pin-message.ts";
import { QuoteContent } from "#features/chat/reply/quote.tsx";
import { useQuotedMessage } from "#features/chat/reply/use-quoted-message.ts";

type PinnedBarProps = {
  conversation: ConversationId;
  people: ChatPeople;
  /** Positions of the pinned messages, the one pinned last at the end. */
  pinned: readonly number[];
  group: GroupCard | null;
  /** Scrolls to a message. */
  onJump: (seq: number) => void;
};

/**
 * Pinned messages, one at a time and the one pinned last first. A press scrolls to the shown one and shows the next.
 */
export default function PinnedBar({ conversation, people, pinned, group, onJump }: PinnedBarProps) {
  const { t } = useTranslation();
  const newest = pinned.at(-1) ?? 0;
  const [chosen, setChosen] = useState({ seq: newest, newest });
  // Another pin is shown at once.
  const index =
    chosen.newest === newest && pinned.includes(chosen.seq) ? pinned.indexOf(chosen.seq) : pinned.length - 1;
  const seq = pinned[index] ?? newest;
  const quoted = useQuotedMessage(conversation, seq);
  // Deleted by this person for themselves; it can only be unpinned. Nobody sees an undelivered message pinned.
  const isDeleted = quoted?.state === "unavailable" && quoted.isWithheld === true;
  const place = pinned.length - index;
  const next = pinned.at(index - 1) ?? newest;
  const bar = useRef<HTMLElement>(null);
  const unpin = async () => {
    const list = bar.current?.closest("[data-screen]")?.querySelector("ol");
    await pinWithToast(conversation, seq, false);
    // The bar is gone with the last pinned message.
    if (document.activeElement === document.body) list?.focus({ preventScroll: true });
  };
  return (
    <section ref={bar} aria-label={t("pins.title")} className="flex h-full items-center pr-2">
      <button
        type="button"
        className="flex h-full min-w-0 flex-1 items-center gap-3 pr-2 pl-4 text-start text-sm leading-[1.43] -outline-offset-3 hover:bg-raised"
        onClick={() => {
          if (!isDeleted) onJump(seq);
          setChosen({ seq: next, newest });
        }}
      >
        <span className="i-ph-push-pin-fill shrink-0 text-lg text-accent" aria-hidden="true" />
        <span className="flex min-w-0 flex-1 flex-col">
          <span className="sr-only">
            {pinned.length > 1 ? t("pins.oneOf", { place, count: pinned.length }) : t("pins.one")}{" "}
          </span>
          {quoted?.state === "found" ? (
            <QuoteContent conversation={conversation} target={seq} quoted={quoted} people={people} />
          ) : (
            <span aria-hidden={!isDeleted} className="truncate text-muted">
              {t(isDeleted ? "messages.deletedByMe" : "pins.one")}
            </span>
          )}
        </span>
        {pinned.length > 1 && (
          <span aria-hidden="true" className="shrink-0 text-xs text-muted tabular-nums">
            {place}/{pinned.length}
          </span>
        )}
      </button>
      {(!group || isGroupActionAllowed(group.role, "pin")) && (
        <MenuButton
          label={t("pins.options")}
          className="text-muted"
          items={[{ id: "unpin", label: t("pins.unpin"), icon: "i-ph-push-pin-slash", onSelect: () => void unpin() }]}
        />
      )}
    </section>
  );
}

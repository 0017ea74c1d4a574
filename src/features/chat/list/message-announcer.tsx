import { useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { describeMessage } from "#components/messages/message-preview.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { type ChatPeople, getSenderName, useMentionedMembers } from "#features/chat/message/senders.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import type { ChatItem } from "#sync/hooks/use-live-query.ts";
import { areNamesLoaded, listPresentMessages } from "./announced-messages.ts";

const announcedMax = 3;
/** A message whose author is being asked for is told after this long at the latest. */
const nameWaitMs = 3_000;

type MessageAnnouncerProps = {
  conversation: ConversationId;
  items: ChatItem[];
  people: ChatPeople;
  isLoading: boolean;
};

/**
 * Tells a screen reader what arrives while the chat is open. The list itself cannot: it is virtual, so its
 * elements also come and go with scrolling. What is deleted, cleared or of a group that is gone leaves here too.
 */
export function MessageAnnouncer({ conversation, items, people, isLoading }: MessageAnnouncerProps) {
  const { t } = useTranslation();
  const [told, setTold] = useState<readonly number[]>([]);
  const [waitedFor, setWaitedFor] = useState(0); // up to this place nobody's name is waited for any more
  const toldSeq = useRef<number>(undefined);
  useEffect(() => {
    const head = items.find((item) => item.seq !== undefined)?.seq ?? 0;
    const before = toldSeq.current;
    if (before === undefined && isLoading) return; // the history coming in is not news
    // What is deleted or cleared does not make older messages news.
    toldSeq.current = Math.max(before ?? 0, head);
    if (before === undefined || head <= before) return;
    const arrived = items
      .flatMap(({ mine, seq }) => (!mine && seq !== undefined && seq > before ? [seq] : []))
      .slice(0, announcedMax)
      .reverse();
    if (arrived.length === 0) return;
    setTold((told) => [...told, ...arrived].slice(-announcedMax));
    // Not ended by the next message: else in a lively group the name might be waited for without end.
    setTimeout(() => setWaitedFor((place) => Math.max(place, head)), nameWaitMs);
  }, [items, isLoading]);
  const lines = useMemo(() => listPresentMessages(told, items), [told, items]);
  // The chat may show its past meanwhile, where others write.
  const members = useMentionedMembers(conversation, people.members?.ownNumber, lines);
  const lineOf = ({ body, sender }: ChatItem): string => {
    const text = describeMessage(body, t, members && { sender, names: members });
    const name = isolateBidi(getSenderName({ ...people, members }, sender, t));
    return body.type === "event" ? text : t("chat.incoming", { name, text });
  };
  return (
    <div role="log" aria-live="polite" aria-label={t("chat.arrived")} className="sr-only">
      {lines.map((item) =>
        areNamesLoaded(item, members) || (item.seq ?? 0) <= waitedFor ? <p key={item.seq}>{lineOf(item)}</p> : null,
      )}
    </div>
  );
}

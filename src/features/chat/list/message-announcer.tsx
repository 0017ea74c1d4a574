import { useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { describeMessage } from "#components/messages/message-preview-text.ts";
import { describePrivateEvent } from "#components/messages/system-message-text.ts";
import type { ConversationId } from "#contract/ids.ts";
import { type ChatPeople, getSenderName, useMentionedMembers } from "#features/chat/message/senders.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
import { areNamesLoaded, listPresentMessages } from "./announced-messages.ts";

const announcedMax = 3;
/** Maximum wait for the name of a sender that is not loaded yet. */
const nameWaitMs = 3_000;

type MessageAnnouncerProps = {
  conversation: ConversationId;
  items: ChatItem[];
  people: ChatPeople;
  isLoading: boolean;
};

/**
 * Live region that announces incoming messages to screen readers. The message list cannot be the live region, because
 * it is virtual: its elements also come and go with scrolling. Deleted and cleared messages are removed here, too.
 */
export function MessageAnnouncer({ conversation, items, people, isLoading }: MessageAnnouncerProps) {
  const { t } = useTranslation();
  const [announcedSeqs, setAnnouncedSeqs] = useState<readonly number[]>([]);
  const [namesAwaitedSeq, setNamesAwaitedSeq] = useState(0); // `seq` up to which missing names are no longer waited for
  const newestAnnounced = useRef<number>(undefined);
  useEffect(() => {
    const head = items.find((item) => item.seq !== undefined)?.seq ?? 0;
    const previous = newestAnnounced.current;
    if (previous === undefined && isLoading) return; // the initial history is not announced
    // The watermark never falls: deleting or clearing messages must not announce older ones.
    newestAnnounced.current = Math.max(previous ?? 0, head);
    if (previous === undefined || head <= previous) return;
    const arrived = items
      .flatMap(({ mine, seq }) => (!mine && seq !== undefined && seq > previous ? [seq] : []))
      .slice(0, announcedMax)
      .reverse();
    if (arrived.length === 0) return;
    setAnnouncedSeqs((announcedSeqs) => [...announcedSeqs, ...arrived].slice(-announcedMax));
    // Not cleared when the next message arrives: in a busy group the wait might never end.
    setTimeout(() => setNamesAwaitedSeq((seq) => Math.max(seq, head)), nameWaitMs);
  }, [items, isLoading]);
  const announced = useMemo(() => listPresentMessages(announcedSeqs, items), [announcedSeqs, items]);
  // The list may show older history with other members, so the names are resolved here.
  const members = useMentionedMembers(conversation, people.members?.ownNumber, announced);
  const describeItem = ({ body, sender }: ChatItem): string => {
    if (body.type === "event" && !members) return describePrivateEvent(false, people.name, t);
    const text = describeMessage(body, t, members && { sender, names: members });
    const name = isolateBidi(getSenderName({ ...people, members }, sender, t));
    return body.type === "event" ? text : t("chat.incoming", { name, text });
  };
  return (
    <div role="log" aria-live="polite" aria-label={t("chat.arrived")} className="sr-only">
      {announced.map((item) =>
        areNamesLoaded(item, members) || (item.seq ?? 0) <= namesAwaitedSeq ? (
          <p key={item.seq}>{describeItem(item)}</p>
        ) : null,
      )}
    </div>
  );
}

import { useEffect, useRef, useState } from "react";
import { describeMessage } from "../../components/message-preview";
import { useT } from "../../i18n/setup";
import { isolate } from "../../lib/isolate";
import type { ChatItem } from "../../sync/hooks";
import { type ChatPeople, nameOfSender } from "./chat-people";

const keptLines = 3;

/**
 * Tells a screen reader what arrives while the chat is open. The list itself cannot: it is virtual, so its
 * elements also come and go with scrolling.
 */
export function Announcer({ items, people, isLoading }: { items: ChatItem[]; people: ChatPeople; isLoading: boolean }) {
  const t = useT();
  const [told, setTold] = useState<ChatItem[]>([]);
  const toldSeq = useRef<number>(undefined);
  useEffect(() => {
    const head = items.find((item) => item.seq !== undefined)?.seq ?? 0;
    const before = toldSeq.current;
    if (before === undefined && isLoading) return; // the history coming in is not news
    toldSeq.current = head;
    if (before === undefined || head <= before) return;
    const arrived = items
      .filter((item) => !item.mine && item.seq !== undefined && item.seq > before)
      .slice(0, keptLines)
      .reverse();
    if (arrived.length > 0) setTold((told) => [...told, ...arrived].slice(-keptLines));
  }, [items, isLoading]);
  const lineOf = ({ body, sender }: ChatItem): string => {
    const text = describeMessage(body, t, people.members && { sender, names: people.members });
    return body.type === "event" ? text : t("chat.incoming", { name: isolate(nameOfSender(people, sender, t)), text });
  };
  return (
    <div role="log" aria-live="polite" aria-label={t("chat.arrived")} className="sr-only">
      {told.map((item) => (
        <p key={item.seq}>{lineOf(item)}</p>
      ))}
    </div>
  );
}

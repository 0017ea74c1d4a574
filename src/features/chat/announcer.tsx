import { useEffect, useRef, useState } from "react";
import { describeMessage } from "../../components/message-preview";
import { useT } from "../../i18n/setup";
import type { ChatItem } from "../../sync/hooks";

const keptLines = 3;

/**
 * Tells a screen reader what arrives while the chat is open. The list itself cannot: it is virtual, so its
 * elements also come and go with scrolling.
 */
export function Announcer({ items, name, isLoading }: { items: ChatItem[]; name: string; isLoading: boolean }) {
  const t = useT();
  const [lines, setLines] = useState<{ seq: number; text: string }[]>([]);
  const toldSeq = useRef<number>(undefined);
  useEffect(() => {
    const head = items.find((item) => item.seq !== undefined)?.seq ?? 0;
    const told = toldSeq.current;
    if (told === undefined && isLoading) return; // the history coming in is not news
    toldSeq.current = head;
    if (told === undefined || head <= told) return;
    const arrived = items
      .filter((item) => !item.mine && item.seq !== undefined && item.seq > told)
      .slice(0, keptLines)
      .reverse()
      .map(({ seq = 0, body }) => ({ seq, text: describeMessage(body, t) }));
    if (arrived.length > 0) setLines((lines) => [...lines, ...arrived].slice(-keptLines));
  }, [items, isLoading, t]);
  return (
    <div role="log" aria-live="polite" aria-label={t("chat.arrived")} className="sr-only">
      {lines.map(({ seq, text }) => (
        <p key={seq}>{t("chat.incoming", { name, text })}</p>
      ))}
    </div>
  );
}

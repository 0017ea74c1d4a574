import { useEffect, useRef, useState } from "react";

/** Minimum time between two typing announcements. */
const repeatAfterMs = 30_000;

/** Live region that announces who types, at most every `repeatAfterMs`. `text` is undefined while nobody does. */
export function TypingAnnouncer({ text }: { text: string | undefined }) {
  const announcedAt = useRef(Number.NEGATIVE_INFINITY);
  const [announced, setAnnounced] = useState<string>();
  useEffect(() => {
    const isDue = text !== undefined && performance.now() - announcedAt.current > repeatAfterMs;
    if (isDue) announcedAt.current = performance.now();
    setAnnounced((announced) => (isDue ? text : text === undefined ? undefined : announced));
  }, [text]);
  return (
    <p role="status" className="sr-only">
      {announced}
    </p>
  );
}

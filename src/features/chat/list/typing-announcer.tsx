import { useEffect, useRef, useState } from "react";

/** Those who write on and off are told of once in this time. */
const repeatAfterMs = 30_000;

/** Tells a screen reader who writes (`text`, undefined while nobody does), when it has not just been told. */
export function TypingAnnouncer({ text }: { text: string | undefined }) {
  const toldAt = useRef(Number.NEGATIVE_INFINITY);
  const [told, setTold] = useState<string>();
  useEffect(() => {
    const isNews = text !== undefined && performance.now() - toldAt.current > repeatAfterMs;
    if (isNews) toldAt.current = performance.now();
    setTold((told) => (isNews ? text : text === undefined ? undefined : told));
  }, [text]);
  return (
    <p role="status" className="sr-only">
      {told}
    </p>
  );
}

import { useEffect, useRef, useState } from "react";
import { useT } from "../../i18n/setup";

/** Somebody who writes on and off is told of once in this time. */
const quietMs = 30_000;

/** Tells a screen reader that the other person writes, when it has not just been told. */
export function TypingAnnouncer({ name, isTyping }: { name: string; isTyping: boolean }) {
  const t = useT();
  const toldAt = useRef(Number.NEGATIVE_INFINITY);
  const [isTold, setTold] = useState(false);
  useEffect(() => {
    const isNews = isTyping && performance.now() - toldAt.current > quietMs;
    if (isNews) toldAt.current = performance.now();
    setTold((isTold) => isTyping && (isTold || isNews));
  }, [isTyping]);
  return (
    <p role="status" className="sr-only">
      {isTold && t("chat.isTyping", { name })}
    </p>
  );
}

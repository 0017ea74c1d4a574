import { useMemo } from "react";
import { useT } from "../../i18n/setup";
import { balance } from "../../lib/isolate";
import { foldText } from "./folding";
import { FoundWords } from "./found";
import { toParts } from "./links";

const rightToLeft = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
export const isRightToLeft = (text: string): boolean => rightToLeft.test(text);

/** Words of a message, with links where they lead elsewhere. */
export function Linked({ text }: { text: string }) {
  const parts = useMemo(() => toParts(balance(text)), [text]);
  let at = 0;
  return parts.map((part) => {
    const key = at;
    if (typeof part === "string") {
      at += part.length;
      return <FoundWords key={key} text={part} />;
    }
    at += part.text.length;
    return (
      <span key={key}>
        <a
          href={part.href}
          target="_blank"
          rel="noopener noreferrer nofollow"
          dir="ltr"
          className="font-medium text-accent underline decoration-1 underline-offset-2 [unicode-bidi:isolate]"
        >
          <FoundWords text={part.text} />
        </a>
        {part.host && <bdi className="text-sm text-muted">{` (${part.host})`}</bdi>}
      </span>
    );
  });
}

type TextBlockProps = {
  text: string;
  /** What stands in the last line's corner, where an invisible copy keeps room for it. */
  time: string;
  mine: boolean;
  isOpen: boolean;
  onOpen: () => void;
};

/**
 * What somebody wrote. It is isolated, so that marks that reorder reach no further than the text itself; a long
 * one shows its beginning until it is opened.
 */
export function TextBlock({ text, time, mine, isOpen, onOpen }: TextBlockProps) {
  const t = useT();
  const start = isOpen ? undefined : foldText(text);
  const corner = (
    <span
      aria-hidden="true"
      data-time={time}
      className={`invisible inline-block text-xs tabular-nums before:content-[attr(data-time)] ${mine ? "px-4" : "px-2"}`}
    />
  );
  return (
    <>
      <p
        dir={isRightToLeft(text) ? "rtl" : "ltr"}
        className="whitespace-pre-wrap text-start leading-[1.4] [overflow-wrap:anywhere]"
      >
        <bdi>
          <Linked text={start ?? text} />
          {start !== undefined && "…"}
        </bdi>
        {start === undefined && corner}
      </p>
      {start !== undefined && (
        <button type="button" className="flex min-h-12 w-full items-center font-semibold text-accent" onClick={onOpen}>
          {t("messages.showMore")}
          {corner}
        </button>
      )}
    </>
  );
}

import { useTranslation } from "react-i18next";
import { LinkedText } from "#components/messages/linked-text.tsx";
import { FoundWords } from "#features/chat/search/search-highlight.tsx";
import { foldText } from "./text-folding.ts";

const rightToLeft = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
export const isRightToLeft = (text: string): boolean => rightToLeft.test(text);

const drawFound = (words: string) => <FoundWords text={words} />;

/** Words of a message, with links where they lead elsewhere. */
export function Linked({ text }: { text: string }) {
  return <LinkedText text={text}>{drawFound}</LinkedText>;
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
  const { t } = useTranslation();
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

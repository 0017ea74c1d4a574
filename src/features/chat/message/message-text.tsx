import { useTranslation } from "react-i18next";
import { LinkedText } from "#components/messages/linked-text.tsx";
import { HighlightedText } from "#features/chat/search/search-highlight.tsx";
import { collapseText } from "./collapse-text.ts";

const rtlBeginning = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
export const isRightToLeft = (text: string): boolean => rtlBeginning.test(text);

const renderHighlighted = (words: string) => <HighlightedText text={words} />;

/** Words of a message, with links where they lead elsewhere. */
export function LinkedMessageText({ text }: { text: string }) {
  return <LinkedText text={text}>{renderHighlighted}</LinkedText>;
}

type BubbleTextProps = {
  text: string;
  /** What stands in the last line's corner, where an invisible copy keeps room for it. */
  time: string;
  mine: boolean;
  isExpanded: boolean;
  onExpand: () => void;
};

/**
 * What somebody wrote. It is isolated, so that marks that reorder reach no further than the text itself; a long
 * one shows its beginning until it is opened.
 */
export function BubbleText({ text, time, mine, isExpanded, onExpand }: BubbleTextProps) {
  const { t } = useTranslation();
  const start = isExpanded ? undefined : collapseText(text);
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
          <LinkedMessageText text={start ?? text} />
          {start !== undefined && "…"}
        </bdi>
        {start === undefined && corner}
      </p>
      {start !== undefined && (
        <button
          type="button"
          className="flex min-h-12 w-full items-center font-semibold text-accent"
          onClick={onExpand}
        >
          {t("messages.showMore")}
          {corner}
        </button>
      )}
    </>
  );
}

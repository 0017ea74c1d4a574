import { useContext } from "react";
import { useTranslation } from "react-i18next";
import { paragraphClasses } from "#components/messages/format-elements.ts";
import { FormattedText } from "#components/messages/formatted-text.tsx";
import { LinkedText } from "#components/messages/linked-text.tsx";
import type { Mention } from "#contract/messages/mentions.ts";
import { toShownText } from "#contract/wire/formatting.ts";
import { HighlightedText } from "#features/chat/search/search-highlight.tsx";
import { collapseText } from "./collapse-text.ts";
import { MentionContext } from "./mention-context.ts";

const renderHighlighted = (words: string) => <HighlightedText text={words} />;

/** Piece of a message text, with links and highlighted search matches. */
export function LinkedMessageText({ text }: { text: string }) {
  return <LinkedText text={text}>{renderHighlighted}</LinkedText>;
}

/** Message text with its formats, links and highlighted search matches. */
export function FormattedMessageText({ text }: { text: string }) {
  return (
    <FormattedText text={text}>
      {(part, isCode) => {
        const words = toShownText(text, part);
        return isCode ? renderHighlighted(words) : <LinkedMessageText text={words} />;
      }}
    </FormattedText>
  );
}

type BubbleTextProps = {
  text: string;
  mentions: readonly Mention[];
  /** Time in the corner of the last line; an invisible copy reserves its space. */
  time: string;
  mine: boolean;
  isExpanded: boolean;
  onExpand: () => void;
};

/**
 * Text of a bubble, each paragraph in its own direction. A long text is collapsed until the user expands it.
 */
export function BubbleText({ text, mentions, time, mine, isExpanded, onExpand }: BubbleTextProps) {
  const { t } = useTranslation();
  const group = useContext(MentionContext);
  const collapsed = isExpanded ? undefined : collapseText(text);
  const timeSpacer = (
    <span
      aria-hidden="true"
      data-time={time}
      className={`invisible inline-block text-xs tabular-nums before:content-[attr(data-time)] ${mine ? "px-4" : "px-2"}`}
    />
  );
  return (
    <>
      <p>
        <bdi className={paragraphClasses}>
          {group && mentions.length > 0 ? (
            <group.Text text={collapsed ?? text} mentions={mentions} />
          ) : (
            <FormattedMessageText text={collapsed ?? text} />
          )}
          {collapsed === undefined ? timeSpacer : "…"}
        </bdi>
      </p>
      {collapsed !== undefined && (
        <button
          type="button"
          className="flex min-h-12 w-full items-center font-semibold text-accent"
          onClick={onExpand}
        >
          {t("messages.showMore")}
          {timeSpacer}
        </button>
      )}
    </>
  );
}

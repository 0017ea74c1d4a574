import { Fragment, type ReactNode, useMemo } from "react";
import { type FormattedPart, parseFormatting } from "#contract/wire/formatting.ts";
import { formatElements } from "./format-elements.ts";

type FormattedTextProps = {
  text: string;
  /** Characters that contain no markers, in their order. */
  protectedRanges?: readonly (readonly [start: number, end: number])[] | undefined;
  /** Renders the characters of a piece. `isCode`: as they are, without links. */
  children: (part: FormattedPart, isCode: boolean) => ReactNode;
};

/** Text with its formats in the place of their markers. */
export function FormattedText({ text, protectedRanges, children: renderPart }: FormattedTextProps) {
  const parts = useMemo(() => parseFormatting(text, protectedRanges), [text, protectedRanges]);
  const renderParts = (siblings: readonly FormattedPart[], isCode: boolean): ReactNode[] =>
    siblings.map((part) => {
      if (!part.format || !part.parts) return <Fragment key={part.start}>{renderPart(part, isCode)}</Fragment>;
      const { tag: Tag, classes } = formatElements[part.format];
      return (
        <Tag key={part.start} className={classes}>
          {renderParts(part.parts, part.format === "code")}
        </Tag>
      );
    });
  return renderParts(parts, false);
}

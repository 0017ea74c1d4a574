// @unocss-include – UnoCSS scans only component files by default.
import type { Format } from "#contract/wire/formatting.ts";

/** Classes of a text of several paragraphs, each in its own direction. */
export const paragraphClasses =
  "block whitespace-pre-wrap text-start leading-[1.4] [unicode-bidi:plaintext] [overflow-wrap:anywhere]";

/** Elements of formatted text, in the app and in the first view of a document. */
export const formatElements = {
  bold: { tag: "strong", classes: "font-bold" },
  italic: { tag: "em", classes: "italic" },
  strikethrough: { tag: "s", classes: "line-through" },
  code: { tag: "code", classes: "rounded-sm bg-bg/40 px-1 font-mono text-[0.9em]" },
} as const satisfies Record<Format, { tag: string; classes: string }>;

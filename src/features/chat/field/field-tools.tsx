import type { RefObject } from "react";
import { EmojiButton } from "./emoji-button.tsx";
import { FormatBar } from "./format-bar.tsx";

export { formatField, formatTypedText } from "./format-selection.ts";

/**
 * Tools of a message field, inside its box: formats of the selected text and the emoji picker. They are loaded after
 * the chat is shown.
 */
export default function FieldTools({ field }: { field: RefObject<HTMLTextAreaElement | null> }) {
  return (
    <>
      <FormatBar field={field} />
      <EmojiButton field={field} />
    </>
  );
}

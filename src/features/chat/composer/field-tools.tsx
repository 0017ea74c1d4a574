import type { RefObject } from "react";
import { FormatBar } from "#features/chat/format/format-bar.tsx";
import { EmojiButton } from "./emoji-button.tsx";

/**
 * Tools of a message field, inside its box: formats of the selected text and the emoji picker. They are loaded after the
 * chat is shown.
 */
export default function FieldTools({ field }: { field: RefObject<HTMLTextAreaElement | null> }) {
  return (
    <>
      <FormatBar field={field} />
      <EmojiButton field={field} />
    </>
  );
}

import { type RefObject, useState } from "react";
import { createPortal } from "react-dom";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { lazyOverlay } from "#components/overlays/lazy-overlay.tsx";

const EmojiPicker = lazyOverlay(() => import("#features/chat/reactions/emoji-picker.tsx"));

/** Writes a text at the caret of a field, in the place of what is selected, as if it were typed. The focus stays. */
const insertText = (field: HTMLTextAreaElement | null, text: string): void => {
  if (!field) return;
  field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
};

/** Button at the end of a message field that opens the emoji picker. */
export function EmojiButton({ field }: { field: RefObject<HTMLTextAreaElement | null> }) {
  const { t } = useTranslation();
  /** Element that contains the open picker; undefined while it is closed. */
  const [chat, setChat] = useState<HTMLElement>();
  const toggle = () => setChat(chat ? undefined : (field.current?.form?.parentElement ?? undefined));
  return (
    <>
      <IconButton
        icon="i-ph-smiley"
        label={t("reactions.choose")}
        aria-expanded={chat !== undefined}
        className="absolute right-0 bottom-0 text-muted hover:text-text"
        onClick={toggle}
      />
      {chat &&
        createPortal(
          <EmojiPicker
            field={field}
            onChoose={(emoji) => insertText(field.current, emoji)}
            onClose={() => setChat(undefined)}
          />,
          chat,
        )}
    </>
  );
}

import { type RefObject, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { formatField, listMarker } from "./format-selection.ts";

const formats = [
  { marker: "*", icon: "i-ph-text-b", label: "chat.format.bold" },
  { marker: "_", icon: "i-ph-text-italic", label: "chat.format.italic" },
  { marker: "~", icon: "i-ph-text-strikethrough", label: "chat.format.strikethrough" },
  { marker: "`", icon: "i-ph-code", label: "chat.format.code" },
  { marker: listMarker, icon: "i-ph-list-bullets", label: "chat.format.list" },
] as const;

/**
 * Buttons that format the selected text of a message field, shown above it while text is selected. With a finger they
 * stand higher, because phones show their own menu directly above a selection.
 */
export function FormatBar({ field }: { field: RefObject<HTMLTextAreaElement | null> }) {
  const { t } = useTranslation();
  const [isShown, setShown] = useState(false);
  const bar = useRef<HTMLFieldSetElement>(null);
  useEffect(() => {
    const update = () => {
      const { activeElement } = document;
      if (bar.current?.contains(activeElement)) return;
      const { current } = field;
      setShown(current !== null && current === activeElement && current.selectionStart !== current.selectionEnd);
    };
    const events = ["selectionchange", "focusin"] as const;
    for (const event of events) document.addEventListener(event, update);
    update(); // the text was selected while this code was loading
    return () => {
      for (const event of events) document.removeEventListener(event, update);
    };
  }, [field]);
  if (!isShown) return null;
  return (
    <fieldset
      ref={bar}
      aria-label={t("chat.format.title")}
      className="absolute bottom-full left-0 z-2 mb-3 flex max-w-full rounded-full border border-line bg-surface px-1 shadow-xl [@media(pointer:coarse)]:mb-17"
      // The field keeps its focus and selection, and with them the on-screen keyboard.
      onPointerDown={(event) => event.preventDefault()}
      onBlur={({ relatedTarget, currentTarget }) => {
        if (!currentTarget.contains(relatedTarget) && relatedTarget !== field.current) setShown(false);
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        field.current?.focus({ preventScroll: true });
      }}
    >
      {formats.map(({ marker, icon, label }) => (
        <IconButton
          key={marker}
          icon={icon}
          label={t(label)}
          className="size-11! text-xl!"
          onClick={() => {
            const { current } = field;
            if (current) formatField(current, current.selectionStart, current.selectionEnd, marker);
          }}
        />
      ))}
    </fieldset>
  );
}

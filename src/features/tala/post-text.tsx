import { useState } from "react";
import { useTranslation } from "react-i18next";
import { LinkedText } from "#components/messages/linked-text.tsx";

const maxUnfoldedLines = 12; // keeps one post from filling the public feed with empty lines
const foldedLines = 8;

/** Text of a post. A long one is folded to its first lines until expanded. */
export function PostBody({ content }: { content: string }) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const lines = content.split("\n");
  const isFolded = !isOpen && lines.length > maxUnfoldedLines;
  return (
    <>
      <p className="mt-1 whitespace-pre-wrap text-start [unicode-bidi:plaintext] [overflow-wrap:anywhere]">
        <LinkedText text={isFolded ? `${lines.slice(0, foldedLines).join("\n").trimEnd()}…` : content} />
      </p>
      {isFolded && (
        <button
          type="button"
          className="min-h-12 font-semibold text-accent"
          onClick={({ currentTarget }) => {
            currentTarget.closest("article")?.focus({ preventScroll: true });
            setOpen(true);
          }}
        >
          {t("messages.showMore")}
        </button>
      )}
    </>
  );
}

import { type KeyboardEvent, useEffect, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { SearchField } from "#components/controls/search-field.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import { loadOrShowToast } from "#components/overlays/load-with-toast.ts";
import { Sheet } from "#components/overlays/sheet.tsx";
import { useLanguage } from "#i18n/setup.ts";
import { type NamedEmoji, parseEmojiGroups, searchEmoji } from "./emoji-search.ts";

/** Names of the emoji by language, from Unicode CLDR (annotations). */
const emojiNames = {
  fr: () => import("./emoji/emoji-fr.json"),
  en: () => import("./emoji/emoji-en.json"),
  pt: () => import("./emoji/emoji-pt.json"),
} as const;

const groupIds = [
  "smileys",
  "people",
  "nature",
  "food",
  "travel",
  "activities",
  "objects",
  "symbols",
  "flags",
] as const;
const resultsMax = 120;
const focusableClass = "emoji-choice";

/** Moves the focus within the grid by arrow keys. */
const moveFocus = (event: KeyboardEvent<HTMLElement>): void => {
  const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>(`.${focusableClass}`)];
  const index = buttons.indexOf(document.activeElement as HTMLElement);
  const current = buttons[index];
  if (!current) return;
  const isOnOtherLine = (button: HTMLElement) =>
    button.getBoundingClientRect().top !== current.getBoundingClientRect().top;
  const { left } = current.getBoundingClientRect();
  const isBelow = (button: HTMLElement) => isOnOtherLine(button) && button.getBoundingClientRect().left >= left - 1;
  const isAbove = (button: HTMLElement) => isOnOtherLine(button) && button.getBoundingClientRect().left <= left + 1;
  const next =
    event.key === "ArrowRight"
      ? buttons[index + 1]
      : event.key === "ArrowLeft"
        ? buttons[index - 1]
        : event.key === "ArrowDown"
          ? buttons.slice(index + 1).find(isBelow)
          : event.key === "ArrowUp"
            ? buttons.slice(0, index).findLast(isAbove)
            : undefined;
  if (!next) return;
  event.preventDefault();
  next.focus();
};

function EmojiGrid({ emoji, onChoose }: { emoji: readonly NamedEmoji[]; onChoose: (emoji: string) => void }) {
  return (
    <div className="grid grid-cols-[repeat(auto-fill,minmax(44px,1fr))]">
      {emoji.map((one, index) => (
        <button
          key={one.emoji}
          type="button"
          tabIndex={index === 0 ? 0 : -1}
          aria-label={one.name}
          title={one.name}
          className={`${focusableClass} grid size-11 place-items-center justify-self-center rounded-card text-2xl hover:bg-raised focus-visible:bg-raised`}
          onClick={() => onChoose(one.emoji)}
        >
          {one.emoji}
        </button>
      ))}
    </div>
  );
}

/** Sheet to choose any emoji, by group or by name. */
export default function EmojiPicker({ onChoose, onClose }: { onChoose: (emoji: string) => void; onClose: () => void }) {
  const { t } = useTranslation();
  const language = useLanguage();
  const [groups, setGroups] = useState<NamedEmoji[][]>();
  const [query, setQuery] = useState("");
  // biome-ignore lint/correctness/useExhaustiveDependencies: `onClose` is not stable and only called on failure
  useEffect(() => {
    let isWanted = true;
    void loadOrShowToast(emojiNames[language]).then((names) => {
      if (!isWanted) return;
      if (names) setGroups(parseEmojiGroups(names.default));
      else onClose();
    });
    return () => {
      isWanted = false;
    };
  }, [language]);
  const found = useMemo(
    () => (groups && query.trim() !== "" ? searchEmoji(groups, query).slice(0, resultsMax) : undefined),
    [groups, query],
  );
  const [first] = found ?? [];
  return (
    <Sheet title={t("reactions.choose")} onClose={onClose}>
      <div className="shrink-0 px-4 pb-2">
        <SearchField
          label={t("reactions.search")}
          value={query}
          onChange={setQuery}
          onSubmit={() => first && onChoose(first.emoji)}
        />
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move between the buttons inside */}
      <div className="min-h-0 flex-1 overflow-y-auto overscroll-contain px-2 pb-safe" onKeyDown={moveFocus}>
        {!groups ? (
          <div className="grid h-full place-items-center text-accent">
            <Spinner label={t("common.loading")} className="text-4xl" />
          </div>
        ) : found ? (
          <>
            <p role="status" className={found.length > 0 ? "sr-only" : "p-6 text-center text-muted"}>
              {found.length > 0 ? t("reactions.found", { count: found.length }) : t("reactions.notFound")}
            </p>
            <EmojiGrid emoji={found} onChoose={onChoose} />
          </>
        ) : (
          groups.map((emoji, index) => {
            const id = groupIds[index] ?? "symbols";
            return (
              <section
                key={id}
                aria-labelledby={`emoji-${id}`}
                className="[contain-intrinsic-size:auto_900px] [content-visibility:auto]"
              >
                <h3 id={`emoji-${id}`} className="px-2 pt-3 pb-1 text-sm font-semibold text-muted">
                  {t(`reactions.groups.${id}`)}
                </h3>
                <EmojiGrid emoji={emoji} onChoose={onChoose} />
              </section>
            );
          })
        )}
      </div>
    </Sheet>
  );
}

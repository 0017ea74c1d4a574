import { type KeyboardEvent, type RefObject, useEffect, useEffectEvent, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { SearchField } from "#components/controls/search-field.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import { loadOrShowToast } from "#components/overlays/load-with-toast.ts";
import { Sheet } from "#components/overlays/sheet.tsx";
import { useLanguage } from "#i18n/setup.ts";
import { useSession } from "#lib/session/use-session.ts";
import { readEmojiChoices, toNeutralEmoji, withRecentEmoji, withSkinTone, writeEmojiChoices } from "./emoji-choices.ts";
import { EmojiPanel } from "./emoji-panel.tsx";
import { type NamedEmoji, parseEmojiGroups, searchEmoji } from "./emoji-search.ts";
import { SkinToneChoice } from "./skin-tone-choice.tsx";

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

type EmojiPickerProps = {
  /** Field of the composer, above or below which the picker stands as a panel. Without it, the picker is a dialog. */
  field?: RefObject<HTMLTextAreaElement | null>;
  onChoose: (emoji: string) => void;
  onClose: () => void;
};

/** Picker of any emoji, by recent use, group or name, in the skin tone of the person. */
export default function EmojiPicker({ field, onChoose, onClose }: EmojiPickerProps) {
  const { t } = useTranslation();
  const language = useLanguage();
  const me = useSession()?.userId;
  const [groups, setGroups] = useState<NamedEmoji[][]>();
  const [query, setQuery] = useState("");
  const [choices, setChoices] = useState(() => readEmojiChoices(me));
  // The list of recent emoji stays as it was opened, so that no emoji moves under the finger.
  const [shownRecent] = useState(choices.recent);
  const close = useEffectEvent(onClose);
  useEffect(() => {
    let isWanted = true;
    void loadOrShowToast(emojiNames[language]).then((names) => {
      if (!isWanted) return;
      if (names) setGroups(parseEmojiGroups(names.default));
      else close();
    });
    return () => {
      isWanted = false;
    };
  }, [language]);
  const found = useMemo(
    () => (groups && query.trim() !== "" ? searchEmoji(groups, query).slice(0, resultsMax) : undefined),
    [groups, query],
  );
  const recent = useMemo(() => {
    const named = new Map(groups?.flat().map((one) => [toNeutralEmoji(one.emoji), one]));
    return shownRecent.map((emoji) => ({ name: emoji, words: "", ...named.get(toNeutralEmoji(emoji)), emoji }));
  }, [groups, shownRecent]);

  const save = (next: typeof choices) => {
    setChoices(next);
    writeEmojiChoices(me, next);
  };
  const choose = (emoji: string) => {
    save(withRecentEmoji(choices, emoji));
    onChoose(emoji);
  };
  const applyTone = (emoji: readonly NamedEmoji[]) =>
    choices.tone === "" ? emoji : emoji.map((one) => ({ ...one, emoji: withSkinTone(one.emoji, choices.tone) }));
  const [first] = found ? applyTone(found) : [];
  const sections = [
    ...(recent.length > 0 ? [{ id: "recent" as const, emoji: recent }] : []),
    ...(groups ?? []).map((emoji, index) => ({ id: groupIds[index] ?? "symbols", emoji: applyTone(emoji) })),
  ];
  const content = (
    <>
      <div className="flex shrink-0 items-center gap-1 px-4 pb-2">
        <div className="min-w-0 flex-1">
          <SearchField
            label={t("reactions.search")}
            value={query}
            onChange={setQuery}
            onSubmit={() => first && choose(first.emoji)}
          />
        </div>
        <SkinToneChoice tone={choices.tone} onChange={(tone) => save({ ...choices, tone })} />
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
            <EmojiGrid emoji={applyTone(found)} onChoose={choose} />
          </>
        ) : (
          sections.map(({ id, emoji }) => (
            <section
              key={id}
              aria-labelledby={`emoji-${id}`}
              className={id === "recent" ? "" : "[contain-intrinsic-size:auto_900px] [content-visibility:auto]"}
            >
              <h3 id={`emoji-${id}`} className="px-2 pt-3 pb-1 text-sm font-semibold text-muted">
                {t(`reactions.groups.${id}`)}
              </h3>
              <EmojiGrid emoji={emoji} onChoose={choose} />
            </section>
          ))
        )}
      </div>
    </>
  );
  return field ? (
    <EmojiPanel field={field} onClose={onClose}>
      {content}
    </EmojiPanel>
  ) : (
    <Sheet title={t("reactions.choose")} onClose={onClose}>
      {content}
    </Sheet>
  );
}

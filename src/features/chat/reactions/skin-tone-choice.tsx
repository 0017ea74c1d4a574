import { useState } from "react";
import { useTranslation } from "react-i18next";
import { type EmojiChoices, skinTones } from "./emoji-choices.ts";

const toneNames = ["none", "light", "mediumLight", "medium", "mediumDark", "dark"] as const;
const buttonClasses = "grid size-12 shrink-0 place-items-center rounded-full text-2xl hover:bg-raised";

type SkinToneChoiceProps = { tone: EmojiChoices["tone"]; onChange: (tone: EmojiChoices["tone"]) => void };

/** Button that shows the skin tone of emoji, and opens a list of the others below it. */
export function SkinToneChoice({ tone, onChange }: SkinToneChoiceProps) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const toLabel = (of: EmojiChoices["tone"]) => t(`reactions.tones.${toneNames[skinTones.indexOf(of)] ?? "none"}`);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the list closes when the focus leaves it
    <div
      className="relative shrink-0"
      onBlur={({ currentTarget, relatedTarget }) => !currentTarget.contains(relatedTarget) && setOpen(false)}
    >
      <button
        type="button"
        aria-label={`${t("reactions.skinTone")}: ${toLabel(tone)}`}
        title={t("reactions.skinTone")}
        aria-expanded={isOpen}
        className={buttonClasses}
        onClick={() => setOpen(!isOpen)}
      >
        {`✋${tone}`}
      </button>
      {isOpen && (
        <fieldset
          aria-label={t("reactions.skinTone")}
          className="absolute top-full right-0 z-2 flex rounded-card border border-line bg-surface shadow-md"
        >
          {skinTones.map((one) => (
            <button
              key={one}
              type="button"
              aria-label={toLabel(one)}
              title={toLabel(one)}
              aria-pressed={one === tone}
              className={`${buttonClasses} ${one === tone ? "bg-accent-soft" : ""}`}
              onClick={(event) => {
                onChange(one);
                setOpen(false);
                event.currentTarget.closest(".relative")?.querySelector("button")?.focus();
              }}
            >
              {`✋${one}`}
            </button>
          ))}
        </fieldset>
      )}
    </div>
  );
}

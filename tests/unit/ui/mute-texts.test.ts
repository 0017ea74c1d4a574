import { afterEach, expect, it } from "vitest";
import { toMutedText, toUnmuteLabel } from "#components/people/mute-texts.ts";
import { defaultLanguage } from "#contract/language.ts";
import { setCurrentLanguage } from "#i18n/current-language.ts";
import en from "#i18n/en.json";
import fr from "#i18n/fr.json";
import pt from "#i18n/pt.json";
import { createTranslate } from "#i18n/setup.ts";

const dayMs = 86_400_000;
const translations = [
  ["fr", fr],
  ["en", en],
  ["pt", pt],
] as const;

/** Texts of a mute's end in the three languages: of the muted conversation, and of the command that unmutes it. */
const listTexts = (end: Date): string[] =>
  translations.flatMap(([language, source]) => {
    setCurrentLanguage(language);
    const t = createTranslate(language, source);
    const mutedUntil = end.getTime();
    return [toMutedText({ mutedUntil, mutedExceptMentions: false }, t), toUnmuteLabel(mutedUntil, t)];
  });

afterEach(() => setCurrentLanguage(defaultLanguage));

it("tells the end of a mute within a day by its time", () => {
  const end = new Date(Date.now() + dayMs / 3);
  const time = [end.getHours(), end.getMinutes()].map((part) => `${part}`.padStart(2, "0")).join(":");
  expect(listTexts(end)).toEqual([
    `Notifications muettes jusqu'à ${time}`,
    `Réactiver (muettes jusqu'à ${time})`,
    `Notifications muted until ${time}`,
    `Unmute (muted until ${time})`,
    `Notificações silenciadas até às ${time}`,
    `Reativar (silenciadas até às ${time})`,
  ]);
});

it("tells a later end by its day and time, as people write them", () => {
  expect(listTexts(new Date(2090, 11, 3, 14, 5))).toEqual([
    "Notifications muettes jusqu'au 3 déc. à 14:05",
    "Réactiver (muettes jusqu'au 3 déc. à 14:05)",
    "Notifications muted until 3 Dec at 14:05",
    "Unmute (muted until 3 Dec at 14:05)",
    "Notificações silenciadas até 3 dez. às 14:05",
    "Reativar (silenciadas até 3 dez. às 14:05)",
  ]);
  const [french] = listTexts(new Date(2090, 11, 1, 14, 5));
  expect(french).toBe("Notifications muettes jusqu'au 1er déc. à 14:05");
});

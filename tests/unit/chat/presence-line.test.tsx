import { afterAll, describe, expect, it } from "vitest";
import type { Language } from "#contract/language.ts";
import { hasVisiblePresence, PresenceLine } from "#features/chat/header/presence-line.tsx";
import en from "#i18n/en.json";
import fr from "#i18n/fr.json";
import pt from "#i18n/pt.json";
import { activateTexts } from "#i18n/setup.ts";
import { renderMarkup } from "#tests/support/rendered.tsx";

const texts = { fr, en, pt };
const now = new Date(2026, 10, 22, 15, 30).getTime();
const at = (...parts: [number, number, number, number, number]) => new Date(...parts).getTime();

const saysOf = (language: Language, seen_at: number): string[] => {
  activateTexts(language, texts[language]);
  const html = renderMarkup(<PresenceLine presence={{ here: false, seen_at }} now={now} />);
  return [...html.matchAll(/>([^<]+)</g)].map(([, words = ""]) => words);
};

afterAll(() => activateTexts("fr", fr));

describe("the last-seen line", () => {
  it('shows the time today, "yesterday" the day after, and the date before that', () => {
    expect(saysOf("fr", at(2026, 10, 22, 0, 5))).toEqual(["Dernière visite à 00:05", "visite 00:05"]);
    expect(saysOf("fr", at(2026, 10, 21, 23, 59))).toEqual(["Dernière visite hier à 23:59", "visite hier"]);
    expect(saysOf("fr", at(2026, 10, 20, 9, 0))).toEqual(["Dernière visite le 20/11/26", "visite 20/11"]);
  });

  it("is in the user's language", () => {
    expect(saysOf("en", at(2026, 10, 22, 14, 5))).toEqual(["Last seen at 14:05", "seen 14:05"]);
    expect(saysOf("en", at(2026, 10, 20, 9, 0))).toEqual(["Last seen on 20/11/26", "seen 20/11"]);
    expect(saysOf("pt", at(2026, 10, 21, 14, 5))).toEqual(["Última visita ontem às 14:05", "visita ontem"]);
    expect(saysOf("pt", at(2026, 10, 20, 9, 0))).toEqual(["Última visita a 20/11/26", "visita 20/11"]);
  });

  it("is absent for a person who is online or unknown", () => {
    activateTexts("fr", fr);
    expect(renderMarkup(<PresenceLine presence={{ here: true, seen_at: null }} />)).toBe("en ligne");
    expect(hasVisiblePresence({ here: true, seen_at: null })).toBe(true);
    expect(hasVisiblePresence({ here: false, seen_at: null })).toBe(false);
    expect(hasVisiblePresence(undefined)).toBe(false);
  });
});

import { afterAll, describe, expect, it } from "vitest";
import { PostLayout } from "#features/tala/post-layout.tsx";
import en from "#i18n/en.json";
import { formatDate } from "#i18n/format.ts";
import fr from "#i18n/fr.json";
import pt from "#i18n/pt.json";
import { activateTexts } from "#i18n/setup.ts";
import { renderMarkup } from "#tests/support/rendered.tsx";

const showOf = (username: string, avatar: string | null = null): string =>
  renderMarkup(<PostLayout author={{ username, avatar }} note="05 nov. 2026" content="Mbote" />);

afterAll(() => activateTexts("fr", fr));

describe("the author of a status", () => {
  it("is shown by the first letter of their name without a picture", () => {
    expect(showOf("Grâce Mbuyi")).toContain('data-initials="G"');
    expect(showOf("émile")).toContain('data-initials="É"');
    expect(showOf("Grâce Mbuyi", "abc.webp")).toContain('src="/api/avatars/abc.webp?size=50"');
  });

  it("without a name is shown as a user in the reader's language, with the letter U", () => {
    for (const [language, texts, name] of [
      ["fr", fr, "Utilisateur"],
      ["en", en, "User"],
      ["pt", pt, "Utilizador"],
    ] as const) {
      activateTexts(language, texts);
      expect(showOf("")).toContain('data-initials="U"');
      expect(showOf("")).toContain(`<bdi>${name}</bdi>`);
    }
  });
});

it("a date has a two-digit day, a short month and the year, in the current language", () => {
  const at = new Date(2026, 10, 5, 12).getTime();
  activateTexts("fr", fr);
  expect(formatDate(at)).toBe("05 nov. 2026");
  activateTexts("en", en);
  expect(formatDate(at)).toBe("05 Nov 2026");
  activateTexts("pt", pt);
  expect(formatDate(at)).toBe("05 nov. 2026");
  activateTexts("fr", fr);
});

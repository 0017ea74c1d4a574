import { afterAll, describe, expect, it } from "vitest";
import { RecoveryCodesSection } from "#features/security/sections/recovery-codes-section.tsx";
import en from "#i18n/en.json";
import fr from "#i18n/fr.json";
import pt from "#i18n/pt.json";
import { activateTexts } from "#i18n/setup.ts";
import { renderMarkup } from "#tests/support/rendered.tsx";

afterAll(() => activateTexts("fr", fr));

describe.each([
  ["fr", fr],
  ["en", en],
  ["pt", pt],
] as const)("recovery codes, in %s", (language, texts) => {
  const { codes } = texts.security;
  const saysOf = (left: number | null, isAsked: boolean): string[] => {
    activateTexts(language, texts);
    const html = renderMarkup(
      <RecoveryCodesSection left={left} hasSecondFactor={isAsked} prompt={undefined} onPrompt={() => undefined} />,
    );
    const words = [...html.matchAll(/>([^<]+)</g)].map(([, text = ""]) => text.replaceAll("&#x27;", "'"));
    return words.filter((text) => text !== codes.title);
  };

  it("can be created by a user without a second factor, for whom they replace a forgotten password", () => {
    expect(saysOf(null, false)).toEqual([codes.noneYet, codes.make]);
  });

  it("are recommended more strongly to a user with a second factor", () => {
    expect(saysOf(null, true)).toEqual([codes.none, codes.make]);
  });

  it("show the remaining number, and can be replaced whether or not any are left", () => {
    expect(saysOf(10, false)).toEqual([codes.left_other.replace("{count}", "10"), codes.makeAnew]);
    expect(saysOf(1, true)).toEqual([codes.left_one.replace("{count}", "1"), codes.makeAnew]);
    expect(saysOf(0, true)).toEqual([codes.gone, codes.makeAnew]);
  });
});

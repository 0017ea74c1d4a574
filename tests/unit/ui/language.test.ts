import { describe, expect, it } from "vitest";
import { resolveLanguage, toLanguageCookie } from "#contract/language.ts";

describe("the language of a page", () => {
  it("is French by default", () => {
    expect(resolveLanguage({})).toBe("fr");
    expect(resolveLanguage({ parameter: "xx", cookies: "lang=xx; other=pt", accept: "sw, ln;q=0.9" })).toBe("fr");
  });

  it("is the one in the link, before the one chosen earlier, before the browser's preference", () => {
    expect(resolveLanguage({ parameter: "pt", cookies: "a=b; lang=en", accept: "fr" })).toBe("pt");
    expect(resolveLanguage({ parameter: null, cookies: "a=b; lang=en", accept: "fr" })).toBe("en");
    expect(resolveLanguage({ accept: "pt-BR,pt;q=0.9,en;q=0.8" })).toBe("pt");
  });

  it("follows the browser's weights and not the order of the header", () => {
    expect(resolveLanguage({ accept: "sw, fr;q=0.2, en-GB;q=0.7" })).toBe("en");
    expect(resolveLanguage({ accept: "en;q=0, pt;q=0.1" })).toBe("pt");
    expect(resolveLanguage({ accept: "*" })).toBe("fr");
  });

  it("is restored from its cookie", () => {
    expect(resolveLanguage({ cookies: toLanguageCookie("pt") })).toBe("pt");
    expect(toLanguageCookie("pt")).toBe("lang=pt; Path=/; Max-Age=31536000; SameSite=Lax");
  });
});

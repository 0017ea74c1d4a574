import { afterEach, describe, expect, test, vi } from "vitest";
import en from "#i18n/en.json";
import fr from "#i18n/fr.json";
import pt from "#i18n/pt.json";
import { createTranslate, type TextKey } from "#i18n/setup.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("texts", () => {
  test("are found in each language by the same key", () => {
    expect(createTranslate("fr", fr)("common.back")).toBe("Retour");
    expect(createTranslate("en", en)("common.back")).toBe("Back");
    expect(createTranslate("pt", pt)("common.back")).toBe("Voltar");
  });

  test("have straight apostrophes, three dots and the quotation marks of their language", () => {
    const texts = { fr: JSON.stringify(fr), en: JSON.stringify(en), pt: JSON.stringify(pt) };
    for (const text of Object.values(texts)) expect(text.match(/[’‘…]/g)).toBeNull();
    for (const text of [texts.fr, texts.pt]) expect(text.match(/[“”]/g)).toBeNull();
    expect(texts.en.match(/[«»]/g)).toBeNull();
  });

  test("have plural forms instead of an ending in brackets, and one word for each thing", () => {
    const words = (texts: object) => JSON.stringify(texts);
    for (const texts of [fr, en, pt]) expect(words(texts).match(/\w+\((e?s|en)\)/g)).toBeNull();
    expect(words(pt).match(/aparelho|(est|ess|nov)a ligação|ligação do e-mail/gi)).toBeNull();
    // Two texts of the specification say "Sign in" and "Sign out".
    const { signInFailed: _in, signOutFailed: _out, ...auth } = en.auth;
    expect(words({ ...en, auth }).match(/sign(ed|ing)? (in|out)\b/gi)).toBeNull();
    expect(words(fr).match(/couper le son|silence\b/gi)).toBeNull();
  });

  test("insert values unchanged", () => {
    const t = createTranslate("fr", fr);
    expect(t("contacts.deleteName", { name: "<b>Aïcha</b> {x} $t(common.back)" })).toBe(
      "Supprimer <b>Aïcha</b> {x} $t(common.back)",
    );
  });

  test("use the plural rules of their language: in French zero is singular, in English and Portuguese plural", () => {
    expect(createTranslate("fr", fr)("masolo.unread", { count: 0 })).toBe("0 message non lu");
    expect(createTranslate("fr", fr)("masolo.unread", { count: 2 })).toBe("2 messages non lus");
    expect(createTranslate("en", en)("masolo.unread", { count: 0 })).toContain("messages");
    expect(createTranslate("en", en)("masolo.unread", { count: 1 })).not.toContain("messages");
    expect(createTranslate("pt", pt)("groups.create.selected", { count: 0 })).toBe("0 membros selecionados");
    expect(createTranslate("pt", pt)("groups.create.selected", { count: 1 })).toBe("1 membro selecionado");
  });

  test("show their key when they are missing, and write nothing to the console", () => {
    const spies = (["log", "info", "warn"] as const).map((level) => vi.spyOn(console, level).mockReturnValue());
    expect(createTranslate("fr", fr)("no.such.text" as TextKey)).toBe("no.such.text");
    for (const spy of spies) expect(spy).not.toHaveBeenCalled();
  });
});

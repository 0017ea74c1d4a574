import { describe, expect, it } from "vitest";
import { describeRejectedFiles } from "#features/chat/composer/rejected-files.ts";
import en from "#i18n/en.json";
import fr from "#i18n/fr.json";
import pt from "#i18n/pt.json";
import { createTranslate } from "#i18n/setup.ts";

const empty = { name: "vide.txt", reason: "empty" } as const;
const large = { name: "film.mp4", reason: "tooLarge" } as const;
const torn = { name: "fête.jpg", reason: "unreadable" } as const;

describe("files that cannot be sent with the others", () => {
  it("are listed with their reasons, one per line, if they are one or two", () => {
    expect(describeRejectedFiles([empty], createTranslate("fr", fr), "fr")).toBe(
      "vide.txt\u00a0: Ce fichier est vide.",
    );
    expect(describeRejectedFiles([empty, large], createTranslate("en", en), "en")).toBe(
      "vide.txt: This file is empty.\nfilm.mp4: File too large: 25 MB at most.",
    );
  });

  it("are enumerated by the rules of each language if they are more", () => {
    const all = [empty, large, torn];
    expect(describeRejectedFiles(all, createTranslate("fr", fr), "fr")).toBe("vide.txt, film.mp4 et fête.jpg");
    expect(describeRejectedFiles(all, createTranslate("en", en), "en")).toBe("vide.txt, film.mp4 and fête.jpg");
    expect(describeRejectedFiles(all, createTranslate("pt", pt), "pt")).toBe("vide.txt, film.mp4 e fête.jpg");
  });

  it("have long names shortened in the middle", () => {
    const long = { name: `début-${"x".repeat(200)}-fin.pdf`, reason: "empty" } as const;
    const text = describeRejectedFiles([long], createTranslate("fr", fr), "fr");
    expect(text).toMatch(/^début-x+…x*-fin\.pdf\u00a0: Ce fichier est vide\.$/);
    expect(text.length).toBeLessThan(60);
  });
});

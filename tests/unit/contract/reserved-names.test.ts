import * as v from "valibot";
import { expect, test } from "vitest";
import { DisplayName, isReservedName, nameProblem } from "#contract/names/display-names.ts";

test.each([
  "Lisolo",
  "LISOLO",
  "  lisolo ",
  "L i s o l o",
  "L.i.s.o.l.o",
  "Lisolo 24",
  "Lísôlo",
  "Lisolo Support",
  "Support Lisolo",
  "SupportLisolo",
  "Équipe Lisolo",
  "EQUIPE DE LISOLO",
  "Lisolo – Service client",
  "Serviço Lisolo",
  "Segurança Lisolo RDC",
  "Lisolo Officiel ✅",
  "Admin Lisolo",
  "Lisolo Info",
  "Lіsоlо", // Cyrillic і and о
  "Lisοlο", // Greek omicron
  "ЛIsolo Lisolo Supрort", // Cyrillic р
  "Iisolo", // capital I for l
  "1isolo",
  "L1S0L0",
  "Li5olo Supp0rt",
  "Ｌｉｓｏｌｏ",
  "𝐋𝐢𝐬𝐨𝐥𝐨",
  "ʟɪꜱᴏʟᴏ",
])("%j is reserved", (name) => {
  expect(isReservedName(name)).toBe(true);
  const parsed = v.safeParse(DisplayName, name);
  expect(parsed.success).toBe(false);
  if (!parsed.success) expect(nameProblem(parsed.issues)).toBe("reserved_name");
});

test.each([
  "Grâce Mbuyi",
  "Jean Lisolo",
  "Lisolo Botamba",
  "Lisolo Happy Mwamba",
  "Solo Lisa",
  "Support Informatique",
  "Équipe Kinshasa",
  "Иван Петров",
  "Ελένη",
  "محمد",
  "Li Solomon",
])("%j is not reserved", (name) => {
  expect(isReservedName(name)).toBe(false);
});

test("an invalid name is not reserved", () => {
  const parsed = v.safeParse(DisplayName, " ");
  expect(parsed.success).toBe(false);
  if (!parsed.success) expect(nameProblem(parsed.issues)).toBe("invalid_name");
});

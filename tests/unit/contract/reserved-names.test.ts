import * as v from "valibot";
import { expect, test } from "vitest";
import { DisplayName, nameProblem, TypedDisplayName } from "#contract/names/display-names.ts";
import { isReservedName } from "#contract/names/protected-names.ts";

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
  "SAV Lisolo",
  "S.A.V. Lisolo",
  "Lisolo RDC",
  "Mon Lisolo",
  "Lisolo Money",
  "Lisolo !",
  "Liissolo",
  "ꓡꓲꓢꓳꓡꓳ", // Lisu
  "Liꓢolo Support", // Lisu s
  "ᏞiᏚolo", // Cherokee
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
  "Isolo",
  "Prosper Lisolo",
])("%j is not reserved", (name) => {
  expect(isReservedName(name)).toBe(false);
});

test("an invalid name is not reserved", () => {
  const parsed = v.safeParse(DisplayName, " ");
  expect(parsed.success).toBe(false);
  if (!parsed.success) expect(nameProblem(parsed.issues)).toBe("invalid_name");
});

const problemOf = (name: string) => {
  const issues = v.safeParse(TypedDisplayName, name).issues;
  return issues && nameProblem(issues);
};

test.each([
  "Jеan", // Cyrillic е
  "Αna Mbala", // Greek Α
  "Rawꓢank",
  "ᏢApa Jo",
  "Nzingaمريم",
])("%j mixes letters of several alphabets in a word", (name) => {
  expect(problemOf(name)).toBe("mixed_name");
  expect(v.is(DisplayName, name)).toBe(false);
});

test.each([
  ...[
    "Grâce Mbuyi",
    "Chloé Tshisekedi-N’Landu",
    "João da Conceição",
    "Mbɔ́tɛ Ŋgoy",
    "Ọlá Ẹ̀gbẹ́",
    "Zoë Østergaard",
    "Đặng Thị Ánh",
  ],
  ...["Иван Петров", "Ελένη Παπαδοπούλου", "محمد علي", "ꓡꓲꓢꓴ ꓟꓽ", "ᏣᎳᎩ", "አበበ ቢቂላ", "ߒߞߏ", "会議", "Kenさん", "김민수"],
  ...["Nzinga مريم", "Jean-Иван", "Ana 2", "Papa Jo 👨‍👩‍👧", "O'Brien", "Maman ♥"],
])("%j can be a name", (name) => {
  expect(problemOf(name)).toBeUndefined();
  expect(v.is(DisplayName, name)).toBe(true);
});

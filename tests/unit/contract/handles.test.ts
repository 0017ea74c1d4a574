import * as v from "valibot";
import { expect, test } from "vitest";
import { Handle } from "#contract/names/handles.ts";
import { isReservedHandle } from "#contract/names/protected-names.ts";
import { toSkeleton } from "#contract/names/skeleton.ts";

const operator = ["Rawbank", "Equity BCDC", "Présidence", "M-Pesa", "Airtel Money", "Vodacom", "CENI", ""];
const problemOf = (typed: string): string | undefined => v.safeParse(Handle, typed).issues?.[0].message;

test.each([
  ["@Jean.Kabila", "jean.kabila"],
  ["  maman_jeanne2 ", "maman_jeanne2"],
  ["a.b_c1", "a.b_c1"],
  ["ＪＥＡＮＫ", "jeank"],
  ["k".repeat(30), "k".repeat(30)],
])("%j is stored as %j", (typed, stored) => {
  expect(v.parse(Handle, typed)).toBe(stored);
});

test.each([
  "",
  "@",
  "jean",
  "k".repeat(31),
  "k".repeat(5_000),
  "1jean",
  ".jean",
  "_jean",
  "jean.",
  "jean_",
  "jean..k",
  "jean._k",
  "jean k",
  "jean-k",
  "jéannette",
  "jеаnnе", // Cyrillic
  "@@jeank",
  "jean@k",
])("%j is no handle", (typed) => {
  expect(problemOf(typed)).toBe("invalid_handle");
});

test.each([
  ["jean.k", "jeank"],
  ["jean_k", "j.e.a.n.k"],
  ["paul0", "paulo"],
  ["b1lly", "billy"],
  ["bllly", "billy"],
  ["karnal", "kamal"],
  ["kar.nal", "kamal"],
  ["vvilly", "willy"],
  ["bo55e", "bosse"],
  ["clemence", "demence"],
  ["c1aire", "daire"],
  ["nnadia", "madia"],
])("%s and %s look alike", (a, b) => {
  expect(toSkeleton(a)).toBe(toSkeleton(b));
});

test.each([
  ["jean2", "jean6"],
  ["jean.k", "jean.l"],
  ["maria", "marie"],
  // Honest names and numbers: one in ten first names has another with a letter doubled.
  ["mathieu", "matthieu"],
  ["nadia", "madia"],
  ["lucia", "luda"],
  ["daniel1", "daniel"],
  ["jean10", "jean1"],
])("%s and %s do not look alike", (a, b) => {
  expect(toSkeleton(a)).not.toBe(toSkeleton(b));
});

test.each([
  "lisolo",
  "l1s0l0",
  "lissolo",
  "mylisolo",
  "mon.lisolo",
  "sav_lisolo",
  "lis.olo",
  "lisolo24",
  "lisolo.kinshasa",
  "lisolosupport",
  "support.lisolo",
  "support",
  "supp0rt",
  "support.1",
  "admin1",
  "service.client",
  "equipe_officielle",
])("%j is reserved for the service", (handle) => {
  expect(isReservedHandle(handle, [])).toBe(true);
  expect(problemOf(handle)).toBe("reserved_handle");
});

test.each([
  "rawbank",
  "rawbank24",
  "r4wb4nk",
  "raw.bank",
  "rawbank.goma",
  "jean.rawbank",
  "rawbanksupport",
  "service_rawbank",
  "equitybcdc",
  "equity.bcdc",
  "presidence",
  "cellule.presidence",
  "mpesa1",
  "airtel_money_rdc",
  "airtelmoney",
  "airtell.m0ney",
  "jean.airtel.money.goma",
  "raw_bank_rdc",
  "rawbankrdc",
  "monrawbank",
  "ravvbank",
  "rawwbank",
  "vodacorn",
  "vodaconn",
  "c.e.n.i",
  "cenikinshasa",
])("%j imitates a name of the operator's list", (handle) => {
  expect(isReservedHandle(handle, operator)).toBe(true);
  expect(isReservedHandle(handle, [])).toBe(false);
});

test.each([
  ...["jean.lisolo", "jeanlisolo", "isolo.mbala", "jean.kabila", "maman_jeanne", "equity", "drawbanks", "adminata"],
  ...["user1995", "a1234", "airtel", "money.rdc", "mon.congo", "dudula", "cenia.mukendi", "clemence", "nnamdi"],
])("%j is free", (handle) => {
  expect(isReservedHandle(handle, operator)).toBe(false);
  expect(problemOf(handle)).toBeUndefined();
});

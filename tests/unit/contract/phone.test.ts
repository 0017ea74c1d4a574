import { describe, expect, test } from "vitest";
import { parsePhoneQuery, toE164 } from "#contract/phone/phone.ts";
import { formatPhone, toPhoneQuery } from "#contract/phone/phone-text.ts";

describe("a typed or pasted number", () => {
  test.each([
    ["243810000001", "+243810000001"],
    ["+243 81 000 00 01", "+243810000001"],
    ["00243-81-000.00.01", "+243810000001"],
    ["(+243) 81-000.00/01", "+243810000001"],
    ["[243] 810 000 001", "+243810000001"],
    ["243\u00a0810\u202f000\u2009001", "+243810000001"],
    ["+243\u201181\u20110000001", "+243810000001"],
    ["\u202a+243810000001\u202c", "+243810000001"],
    ["\u200e+243 810 000 001\u200f", "+243810000001"],
    ["\u2068+243810000001\u2069", "+243810000001"],
    ["tel:+243-81-000-00-01", "+243810000001"],
    [" TEL:+243810000001;ext=3", "+243810000001"],
    ["２４３８１００００００１", "+243810000001"],
    ["+٢٤٣ ٨١ ٠٠٠ ٠٠ ٠١", "+243810000001"],
    ["۲۴۳۸۱۰۰۰۰۰۰۱", "+243810000001"],
    ["२४३८१०००००१", "+24381000001"],
    ["𞥒𞥔𞥓𞥘𞥑𞥐𞥐𞥐𞥐𞥐𞥐𞥑", "+243810000001"],
  ])("%j is stored as %s", (typed, stored) => {
    expect(toE164(typed)).toBe(stored);
  });

  test.each([
    "",
    "+",
    "12",
    "0810000001",
    "1234567890123456",
    "24381000000x",
    "081000000O",
    "++243810000001",
    "+243 •• ••• •• 01",
    "+1'; DROP TABLE users",
  ])("%j is no phone number", (typed) => {
    expect(toE164(typed)).toBeUndefined();
  });

  test.each([
    ["+243 810 000 001", ["+243 0810 000 001", "00243 0 81 000 00 01"]],
    ["+33600000001", ["+33 (0)6 00 00 00 01"]],
    ["+24174000001", ["+241 074 00 00 01"]],
    ["+242060000001", ["+242 6 000 0001", "+242 006 000 0001"]],
    ["+242222800001", ["+242 0222 80 00 01"]],
    ["+2250700000001", ["+225 7 00 00 00 01"]],
    ["+2252700000001", ["+225 0 27 00 00 00 01"]],
    ["+2290190000001", ["+229 1 90 00 00 01", "+229 90 00 00 01"]],
    ["+393300000001", ["+39 0330 000 0001"]],
    ["+390600000001", ["+39 6 0000 0001"]],
    ["+390300000001", ["+39 00300000001"]],
    ["+14155550142", ["+1 0 415 555 0142"]],
  ])("%s is one number with and without a 0", (number, others) => {
    const stored = toE164(number);
    expect(toE164(stored ?? "")).toBe(stored);
    for (const other of others) expect(toE164(other)).toBe(stored);
  });
});

describe("a phone search", () => {
  test("looks for digits only, of any script", () => {
    expect(toPhoneQuery(" +243 81% ")).toBe("24381");
    expect(toPhoneQuery("00 01")).toBe("0001");
    expect(toPhoneQuery("\u202a٠٨١ ٠٠\u202c")).toBe("08100");
  });

  test("reads digits in all ways they may stand for", () => {
    const own = "+243990000001";
    const found = { wholes: ["+243810000001"], beginnings: ["+243810000001"] };
    expect(parsePhoneQuery("0810000001", own, 3)).toEqual({ ...found, parts: ["0810000001", "810000001"] });
    expect(parsePhoneQuery("2430810000001", own, 3)).toMatchObject(found);
    expect(parsePhoneQuery("002430810000001", own, 3)).toMatchObject(found);
    expect(parsePhoneQuery("810000001", own, 3).wholes).toEqual(["+243810000001"]);
    expect(parsePhoneQuery("002430810", own, 3)).toMatchObject({ beginnings: ["+243810"] });
    expect(parsePhoneQuery("081", own, 3)).toEqual({ wholes: [], beginnings: ["+24381"], parts: ["081"] });
    expect(parsePhoneQuery("810000", own, 3).beginnings).toEqual(["+810000"]);
  });

  test("keeps the 0 of numbers that begin with it, typed or not", () => {
    const own = "+242050000001";
    expect(parsePhoneQuery("060000001", own, 3).wholes).toEqual(["+242060000001"]);
    expect(parsePhoneQuery("60000001", own, 3).wholes).toContain("+242060000001");
    expect(parsePhoneQuery("061", own, 3).beginnings).toEqual(["+242061"]);
  });
});

test.each([
  ["+243810000001", "+243 810 000 001"],
  ["+242060000001", "+242 06 000 0001"],
  ["+2250700000001", "+225 07 00 00 00 01"],
  ["+22670000001", "+226 70 00 00 01"],
  ["+237670000001", "+237 6 70 00 00 01"],
  ["+244920000001", "+244 920 000 001"],
  ["+33600000001", "+33 6 00 00 00 01"],
  ["+3312345678901", "+33 123 456 789 01"],
  ["+32470000001", "+32 470 00 00 01"],
  ["+393300000001", "+39 330 000 0001"],
  ["+14155550142", "+1 415 555 0142"],
  ["+999123", "+999 123"],
  ["+243 •• ••• •• 01", "+243 •• ••• •• 01"],
  ["Maman 081", "Maman 081"],
  ["", ""],
])("%j is shown as %j", (stored, shown) => {
  expect(formatPhone(stored)).toBe(shown);
  expect(shown.replaceAll(" ", "")).toBe(stored.replaceAll(" ", ""));
});

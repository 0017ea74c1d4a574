import { expect, test } from "vitest";
import { toPhoneQuery } from "#contract/phone/phone-text.ts";
import { parseNumbers } from "#features/people/invite/parse-numbers.ts";

test("pasted numbers are read line by line, each number once", () => {
  const typed = "+243 81 000 00 01\r\n\n  0810000002,\n00243 81-000-0001\n+243810000001\n(081) 000.0003;";
  expect(parseNumbers(typed)).toEqual({
    numbers: ["+243 81 000 00 01", "0810000002", "00243 81-000-0001", "(081) 000.0003"],
    badLines: [],
  });
});

test("lines that are no numbers are named with their place and leave the others alone", () => {
  const typed = "Maman\n0810000002\n12345\n+243+81000000\n1234567890123456789\nlisolo";
  expect(parseNumbers(typed)).toEqual({
    numbers: ["0810000002"],
    badLines: [
      { line: 1, text: "Maman" },
      { line: 3, text: "12345" },
      { line: 4, text: "+243+81000000" },
      { line: 5, text: "1234567890123456789" },
      { line: 6, text: "lisolo" },
    ],
  });
  expect(parseNumbers(" \n")).toEqual({ numbers: [], badLines: [] });
});

test("a name before or after a number is left out", () => {
  const typed = "Tante Béa 0815550202\nBéa, +243 81-555-0203\n081 555 0204 (Papa Jo)\nMaman : (081) 555.0205;";
  expect(parseNumbers(typed)).toEqual({
    numbers: ["0815550202", "+243 81-555-0203", "081 555 0204", "(081) 555.0205"],
    badLines: [],
  });
  const uncertain = "Tante 2 0815550202\nBéa 0815550202 12\nBéa 0815550202 Jo 0815550203\nChambre 12";
  expect(parseNumbers(uncertain)).toEqual({
    numbers: [],
    badLines: uncertain.split("\n").map((text, index) => ({ line: index + 1, text })),
  });
});

test("several numbers in a line are separated by semicolons, commas or slashes", () => {
  expect(parseNumbers("0815550202; 0815550203,+243815550204/810000001/810000002")).toEqual({
    numbers: ["0815550202", "0815550203", "+243815550204", "810000001", "810000002"],
    badLines: [],
  });
  expect(parseNumbers("081/555/0202\nMaman 0815550203 ; Papa 0815550204 ; 123")).toEqual({
    numbers: ["081/555/0202", "0815550203", "0815550204"],
    badLines: [{ line: 2, text: "123" }],
  });
});

test("numbers pasted from other programs and keyboards are read", () => {
  const pasted =
    "\u202a+243 81 000 00 01\u202c\ntel:+243-81-000-0002\n٠٨١٠٠٠٠٠٠٣، ٠٨١٠٠٠٠٠٠٤\nBéa \u2068+243\u00a081\u2011000\u20110005\u2069";
  const { numbers, badLines } = parseNumbers(pasted);
  expect(numbers.map(toPhoneQuery)).toEqual([
    "243810000001",
    "243810000002",
    "0810000003",
    "0810000004",
    "243810000005",
  ]);
  expect(badLines).toEqual([]);
});

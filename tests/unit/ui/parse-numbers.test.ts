import { expect, test } from "vitest";
import { parseNumbers } from "#features/senga/invite/parse-numbers.ts";

test("pasted numbers are read line by line, each number once", () => {
  const typed = "+243 81 000 00 01\r\n\n  0810000002,\n00243 81-000-0001\n+243810000001\n(081) 000.0003;";
  expect(parseNumbers(typed)).toEqual({
    numbers: ["+243 81 000 00 01", "0810000002", "00243 81-000-0001", "(081) 000.0003"],
    badLines: [],
  });
});

test("lines that are no numbers are named with their place and leave the others alone", () => {
  const typed = "Maman 0810000001\n0810000002\n12345\n+243+81000000\n1234567890123456789\nlisolo";
  expect(parseNumbers(typed)).toEqual({
    numbers: ["0810000002"],
    badLines: [
      { line: 1, text: "Maman 0810000001" },
      { line: 3, text: "12345" },
      { line: 4, text: "+243+81000000" },
      { line: 5, text: "1234567890123456789" },
      { line: 6, text: "lisolo" },
    ],
  });
  expect(parseNumbers(" \n")).toEqual({ numbers: [], badLines: [] });
});

import { describe, expect, it } from "vitest";
import { balanceBidi, isolateBidi } from "#lib/text/bidi.ts";

const LRE = "\u202a";
const PDF = "\u202c";
const RLO = "\u202e";
const RLI = "\u2067";
const FSI = "\u2068";
const PDI = "\u2069";

describe("user text within the app's text", () => {
  it.each([
    ["nothing to balance", "Mbote 👋\nna yo", "Mbote 👋\nna yo"],
    ["an end without a beginning", `a${PDI}b${PDF}c`, "abc"],
    ["an override behind the end of what isolates the words", `a${PDI}${RLO}b`, `a${RLO}b${PDF}`],
    ["what is never ended", `${RLO}a${RLI}b`, `${RLO}a${RLI}b${PDI}${PDF}`],
    ["what is ended in the right order", `${LRE}a${RLI}b${PDI}${PDF}c`, `${LRE}a${RLI}b${PDI}${PDF}c`],
    ["an isolate's end, which ends what began within it", `${RLI}a${RLO}b${PDI}${PDF}c`, `${RLI}a${RLO}b${PDI}c`],
    ["an end of another kind", `${RLI}a${PDF}b${PDI}`, `${RLI}ab${PDI}`],
    ["each line by itself", `${RLO}a\nb${PDF}`, `${RLO}a${PDF}\nb`],
  ])("%s", (_, text, balanced) => {
    expect(balanceBidi(text)).toBe(balanced);
    expect(balanceBidi(balanced)).toBe(balanced);
  });

  it("a name does not reorder the sentence around it", () => {
    expect(isolateBidi("Amina")).toBe("Amina");
    expect(isolateBidi("شاي")).toBe(`${FSI}شاي${PDI}`);
    expect(isolateBidi(`Ben${RLO}`)).toBe(`${FSI}Ben${RLO}${PDF}${PDI}`);
    expect(isolateBidi(`Ben${PDI}${RLO}`)).toBe(`${FSI}Ben${RLO}${PDF}${PDI}`);
  });

  it("is processed in linear time, whatever it contains", () => {
    const count = 500_000;
    expect(balanceBidi(RLO.repeat(count) + PDI.repeat(count))).toBe(RLO.repeat(count) + PDF.repeat(count));
    const nested = RLI.repeat(count) + RLO.repeat(count);
    expect(balanceBidi(nested + PDI.repeat(count))).toBe(nested + PDI.repeat(count));
  });
});

import { describe, expect, test, vi } from "vitest";
import { type FormattedPart, parseFormatting, removeFormatting, toShownText } from "#contract/wire/formatting.ts";

const tags = { bold: "b", italic: "i", strikethrough: "s", code: "c" } as const;

/** Text with the formats as tags, for readable expectations. */
const draw = (text: string, parts: FormattedPart[] = parseFormatting(text)): string =>
  parts
    .map(({ format, ...part }) =>
      format && part.parts ? `<${tags[format]}>${draw(text, part.parts)}</${tags[format]}>` : toShownText(text, part),
    )
    .join("");

describe("formatted texts", () => {
  test.each([
    ["*gras*", "<b>gras</b>"],
    ["un *mot* ici", "un <b>mot</b> ici"],
    ["_doux_, ~non~ et `x * y`", "<i>doux</i>, <s>non</s> et <c>x * y</c>"],
    ["*_les deux_*", "<b><i>les deux</i></b>"],
    ["*gras _et doux_ ensemble*", "<b>gras <i>et doux</i> ensemble</b>"],
    ["(*entre parenthèses*)!", "(<b>entre parenthèses</b>)!"],
    ["*été*", "<b>été</b>"],
    ["*un* et *deux*", "<b>un</b> et <b>deux</b>"],
    ["*deux mots.*", "<b>deux mots.</b>"],
    ["*Tapez *122#*", "<b>Tapez *122#</b>"],
    ["*5 000 FC* ou ~5000/mois~", "<b>5 000 FC</b> ou <s>5000/mois</s>"],
    ["*oui*/*non*", "<b>oui</b>/<b>non</b>"],
    ["*voir C:\\_x_ ici*", "<b>voir C:\\_x_ ici</b>"],
    ["*👍*", "<b>👍</b>"],
    ["@jean_pierre_m *a_b*", "@jean_pierre_m <b>a_b</b>"],
    ["2. Oui\n5. *Non*", "2. Oui\n5. <b>Non</b>"],
  ])("%s is %s", (text, drawn) => expect(draw(text)).toBe(drawn));

  test.each([
    "2*3*4 = 24",
    "5 * 3 * 2",
    "un_nom_de_fichier.txt",
    "*pas fermé",
    "*pas\nsur deux lignes*",
    "* espace*",
    "*espace *",
    "**",
    "***",
    "__",
    "``",
    "` `",
    "été*s*",
    "e\u0301*s*",
    "**gras**",
    "__init__.py",
    "src/__tests__/x",
    // Codes and amounts, dialled or paid as they are written.
    "*122#",
    "*144*1#",
    "Tapez *150*",
    "puis *100*1*5#",
    "*#06#",
    "*100*CODE*#",
    "*150* ou *144*1#",
    "*144*1# puis *2*",
    "~243~ ~5000 FC",
    "_12_ *3,5* *100%*",
    "3*4*5 = 60",
    // Paths and names.
    "_nee_vliubilas__A5274",
    "https://readmanga.io/v_nee_vliubilas_starshaia_sestra__a_ei_vse_ravno__A5274",
    "mon_mot_de_passe_1",
    "C:\\Users\\_x_\\*.txt",
    "C:\\Mes documents\\_x_\\a",
    "/home/_x_/a ~/_x_ ./_x_",
    "docs/_posts_/a",
  ])("%s has no format", (text) => expect(draw(text)).toBe(text));

  test("code and links contain no other format, and a link can be within one", () => {
    expect(draw("`*non*` *oui*")).toBe("<c>*non*</c> <b>oui</b>");
    expect(draw("https://exemple.cd/_a_/*b* fin")).toBe("https://exemple.cd/_a_/*b* fin");
    expect(draw("*voir https://exemple.cd/a_b_c !*")).toBe("<b>voir https://exemple.cd/a_b_c !</b>");
    expect(draw("*a `b* c` d*")).toBe("<b>a <c>b* c</c> d</b>");
  });

  test("markers in the name of a mention are not read", () => {
    expect(draw("@A*B* *oui*", parseFormatting("@A*B* *oui*", [[0, 5]]))).toBe("@A*B* <b>oui</b>");
    expect(draw("*@Ana _x_*", parseFormatting("*@Ana _x_*", [[1, 9]]))).toBe("<b>@Ana _x_</b>");
  });

  test("list items begin with a bullet, and numbers stay as they are written", () => {
    expect(draw("- un\n- *deux*\n1. trois\na - b\n-4")).toBe("• un\n• <b>deux</b>\n1. trois\na - b\n-4");
  });

  test("previews have no markers", () => {
    expect(removeFormatting("*a* _b ~c~_ `d` e*f")).toBe("a b c d e*f");
    expect(removeFormatting("sans")).toBe("sans");
  });

  /** Characters of all pieces, each with its position. */
  const listPositions = (parts: FormattedPart[]): number[] =>
    parts.flatMap((part) =>
      part.parts ? listPositions(part.parts) : Array.from({ length: part.end - part.start }, (_, i) => part.start + i),
    );

  test("no character is lost, repeated or moved, except markers", () => {
    const alphabet = ["*", "_", "~", "`", " ", "\n", "a", "é", "👍🏽", "- ", "https://x.cd/", "."];
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    let formatted = 0;
    for (let round = 0; round < 4_000; round++) {
      const text = Array.from({ length: random(24) }, () => alphabet[random(alphabet.length)]).join("");
      const shown = listPositions(parseFormatting(text));
      expect(
        [...new Set(shown)].sort((a, b) => a - b),
        text,
      ).toEqual(shown);
      const hidden = Array.from({ length: text.length }, (_, i) => i).filter((i) => !shown.includes(i));
      for (const position of hidden) expect("*_~`", text).toContain(text.charAt(position));
      if (hidden.length > 0) formatted++;
    }
    expect(formatted).toBeGreaterThan(200);
  });

  test.each([
    "*1* ",
    "*1 ",
    "a/",
    "(a",
    "*1#",
    "{*a",
    "*a ",
    "*a _b ~c `d ",
    "* *",
    "`a",
    "*_~a~_* ",
    "_https://x.cd/_ ",
  ])("the work for a text of many %j grows with its length only", (piece) => {
    const countReads = (repeats: number): number => {
      const reads = vi.spyOn(String.prototype, "charAt");
      parseFormatting(piece.repeat(repeats));
      const count = reads.mock.calls.length;
      reads.mockRestore();
      return count;
    };
    expect(countReads(2_000)).toBeLessThan(2.5 * countReads(1_000) + 100);
  });
});

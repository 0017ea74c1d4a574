import { describe, expect, it } from "vitest";
import { type LinkPart, toTextParts } from "#contract/wire/links.ts";

const linksIn = (text: string): LinkPart[] => toTextParts(text).filter((part) => typeof part !== "string");
const shownIn = (text: string): string[] => linksIn(text).map((link) => link.text);

describe("links in a message", () => {
  it("point to web addresses, with or without scheme, and the text stays unchanged", () => {
    const text = "Va sur https://exemple.cd/a?b=1#c et www.lisolo.example aussi";
    expect(linksIn(text)).toEqual([
      { text: "https://exemple.cd/a?b=1#c", href: "https://exemple.cd/a?b=1#c" },
      { text: "www.lisolo.example", href: "https://www.lisolo.example/" },
    ]);
    expect(
      toTextParts(text)
        .map((part) => (typeof part === "string" ? part : part.text))
        .join(""),
    ).toBe(text);
  });

  it("exclude punctuation that ends the sentence, but keep a closing bracket opened inside", () => {
    expect(shownIn("Lis https://exemple.cd/page.")).toEqual(["https://exemple.cd/page"]);
    expect(shownIn("(voir https://exemple.cd)")).toEqual(["https://exemple.cd"]);
    expect(shownIn("« https://exemple.cd » ?!")).toEqual(["https://exemple.cd"]);
    expect(shownIn("https://fr.wikipedia.org/wiki/Kinshasa_(ville)")).toEqual([
      "https://fr.wikipedia.org/wiki/Kinshasa_(ville)",
    ]);
    expect(shownIn("Déjà lu https://exemple.cd/oui, https://exemple.cd/non…")).toEqual([
      "https://exemple.cd/oui",
      "https://exemple.cd/non",
    ]);
  });

  it.each([
    ["(voir https://fr.wikipedia.org/wiki/Kinshasa_(province))", "https://fr.wikipedia.org/wiki/Kinshasa_(province)"],
    ["(https://example.org/t/898/12)", "https://example.org/t/898/12"],
    ["Va sur https://example.org/a...", "https://example.org/a"],
    ["{voir https://example.org/{a}}", "https://example.org/{a}"],
    ["https://example.org/a|b^c`d\\e fin", "https://example.org/a|b^c`d\\e"],
    ["`https://example.org/a`", "https://example.org/a"],
    ["https://k.example/app#/?_g=(f:!(),t:(from:now-15m,to:now))&_a=(q:(q:''))", "the whole"],
    ["https://example.org/a?x=1&y=2#é", "the whole"],
    ["www.example.org/a_b_c", "the whole"],
    ["https://example.org：8080", "https://example.org"],
    ["見て。https://example.org/a。次", "https://example.org/a"],
    ["https://example.org/a، ثم https://example.org/b؟", "https://example.org/a https://example.org/b"],
    ["（https://example.org/a）", "https://example.org/a"],
    ["prix:5000.Merci", ""],
    ["https://kibana/app", ""],
    ["https://user:pass@example.org/", ""],
    ["a@example.org. Merci", "a@example.org"],
  ])("end where the address ends: %s", (text, shown) => {
    expect(shownIn(text).join(" ")).toBe(shown === "the whole" ? text : shown);
  });

  it("lead to the whole address that is shown", () => {
    for (const sign of ["{a}", "a|b", "a^b", "a`b", "a\\b", "a'b", "a(b)", "[a]"]) {
      const [link] = linksIn(`https://example.org/${sign}`);
      expect(link?.text).toBe(`https://example.org/${sign}`);
      expect(link?.href).toBe(new URL(`https://example.org/${sign}`).href);
    }
  });

  it("never run code, and never hide their host or address", () => {
    const javascript = `${"java"}script:alert(1)`;
    for (const text of [javascript, "data:text/html,x", "file:///etc/passwd", "https://", "http://localhost"]) {
      expect(linksIn(text)).toEqual([]);
    }
    expect(linksIn("https://banque.cd@mechant.example/")).toEqual([]);
    expect(linksIn("https://banque.cd%2f@mechant.example")).toEqual([]);
    // A character that reorders text, or an invisible one, ends the address.
    expect(shownIn("https://exemple.cd/\u202egnp.exe")).toEqual(["https://exemple.cd/"]);
    expect(shownIn("https://exemple\u200b.cd/a")).toEqual([]);
    // Browsers read a backslash as a slash.
    expect(linksIn("https://mechant.example\\@banque.cd")).toEqual([
      {
        text: "https://mechant.example\\@banque.cd",
        href: "https://mechant.example/@banque.cd",
        host: "mechant.example",
      },
    ]);
  });

  it("show their real target if letters look like others or the host is written as a number", () => {
    const [cyrillic] = linksIn("https://аррӏе.com/login");
    expect(cyrillic?.host).toBe("xn--80ak6aa92e.com");
    expect(linksIn("http://0x7f.1/")[0]?.host).toBe("127.0.0.1");
    expect(linksIn("https://EXEMPLE.cd/")[0]?.host).toBeUndefined();
  });

  it("are found as fast in a text made to slow the reader's phone as in any other", () => {
    const length = 100_000; // With quadratic time this test would not finish.
    expect(shownIn(`www.exemple.cd${")".repeat(length)}`)).toEqual(["www.exemple.cd"]);
    expect(shownIn(`www.exemple.cd${"])".repeat(length / 2)}`)).toEqual(["www.exemple.cd"]);
    expect(linksIn("a+".repeat(length / 2))).toEqual([]);
    expect(linksIn("+1-".repeat(length / 3))).toEqual([]);
    expect(linksIn(`${"a%".repeat(length / 4)}@${"b.".repeat(length / 4)}1`)).toEqual([]);
  });

  it("include phone numbers and mail addresses, but no other numbers", () => {
    expect(linksIn("Appelle +243 81 000 00 07.")).toEqual([{ text: "+243 81 000 00 07", href: "tel:+243810000007" }]);
    expect(linksIn("aide@exemple.cd, merci")).toEqual([{ text: "aide@exemple.cd", href: "mailto:aide@exemple.cd" }]);
    expect(linksIn("12 + 345678901 = rien, a+2438100000071234567890")).toEqual([]);
  });
});

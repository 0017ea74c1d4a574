import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  appearanceKey,
  applyAppearance,
  getAppearance,
  motions,
  parseAppearance,
  serializeAppearance,
  setAppearance,
  syncAppearance,
  textSizes,
  themes,
} from "#lib/browser/appearance.ts";
import { appearanceScript } from "#prerender/document.ts";
import { root } from "#tests/support/server/state.ts";

const asSystem = { theme: "system", text: "normal", motion: "system" } as const;

/** The part of a document that the appearance changes. */
const makeDocument = () => ({
  documentElement: { dataset: {} as Record<string, string | undefined> },
  bars: [{ media: "" }, { media: "" }],
  querySelectorAll(selector: string) {
    return /^meta\[name="?theme-color"?\]$/.test(selector) ? this.bars : [];
  },
});

let page = makeDocument();
let stored: Map<string, string>;
let isFull: boolean;

beforeEach(() => {
  page = makeDocument();
  stored = new Map();
  isFull = false;
  vi.stubGlobal("document", page);
  vi.stubGlobal("addEventListener", () => undefined);
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem(key: string, value: string) {
      if (isFull) throw new DOMException("full", "QuotaExceededError");
      stored.set(key, value);
    },
    removeItem: (key: string) => stored.delete(key),
  });
});
afterEach(() => {
  setAppearance(asSystem);
  vi.unstubAllGlobals();
});

test("every choice is stored and read back unchanged", () => {
  for (const theme of themes) {
    for (const text of textSizes) {
      for (const motion of motions)
        expect(parseAppearance(serializeAppearance({ theme, text, motion }))).toEqual({ theme, text, motion });
    }
  }
});

test("values of other versions or invalid values are ignored", () => {
  for (const look of ["", "   ", "sepia huge", '{"theme":"dark"}', "system normal"]) {
    expect(parseAppearance(look), look).toEqual(asSystem);
  }
  expect(parseAppearance("sepia large")).toEqual({ ...asSystem, text: "large" });
});

test("a choice changes only its own setting, applies at once and to the next page", () => {
  setAppearance({ theme: "dark" });
  setAppearance({ text: "larger" });
  expect(page.documentElement.dataset["look"]).toBe("dark larger");
  expect(getAppearance()).toEqual({ theme: "dark", text: "larger", motion: "system" });
  page = makeDocument();
  vi.stubGlobal("document", page);
  syncAppearance();
  expect(page.documentElement.dataset["look"]).toBe("dark larger");
  setAppearance(asSystem);
  expect(stored.has(appearanceKey)).toBe(false);
});

test("a choice that cannot be stored applies until the page is closed", () => {
  isFull = true;
  setAppearance({ theme: "light" });
  setAppearance({ motion: "still" });
  expect(getAppearance()).toEqual({ theme: "light", text: "normal", motion: "still" });
  expect(page.documentElement.dataset["look"]).toBe("light still");
});

test("the browser's theme colour follows the chosen appearance, and the system's again", () => {
  const media = () => page.bars.map((bar) => bar.media);
  applyAppearance("dark large");
  expect(media()).toEqual(["not all", "all"]);
  applyAppearance("light");
  expect(media()).toEqual(["all", "not all"]);
  applyAppearance("large");
  expect(media()).toEqual(["(prefers-color-scheme: light)", "(prefers-color-scheme: dark)"]);
});

test("the inline script shows the same as the app, and never throws", () => {
  const run = (storage: unknown) => {
    page = makeDocument();
    new Function("document", "localStorage", appearanceScript)(page, storage);
    return page;
  };
  const shown = run({ [appearanceKey]: "dark still" });
  expect(shown.documentElement.dataset["look"]).toBe("dark still");
  expect(shown.bars.map((bar) => bar.media)).toEqual(["not all", "all"]);
  expect(run({}).documentElement.dataset["look"]).toBe("");
  expect(() => run(undefined)).not.toThrow();
  // The script is inside a script element.
  expect(appearanceScript).not.toMatch(/<\/|<!--/);
});

test("dark is the same whether set by the system or chosen", () => {
  const colours = (css: string, selector: string): string[] => {
    const from = css.indexOf(`${selector} {`);
    expect(from, selector).toBeGreaterThan(-1);
    const block = css.slice(css.indexOf("{", from) + 1, css.indexOf("}", from));
    return block
      .split(";")
      .map((line) => line.trim())
      .filter(Boolean);
  };
  for (const [file, part] of [
    ["src/app/theme.css", ""],
    ["index.html", " #shell"],
  ] as const) {
    const css = readFileSync(join(root, file), "utf8");
    const bySystem = colours(css, `:root:not([data-look~="light"])${part}`);
    expect(bySystem.length).toBeGreaterThan(3);
    const chosen = part === "" ? ':root[data-look~="dark"]' : `[data-look~="dark"]${part}`;
    expect(colours(css, chosen)).toEqual(bySystem);
  }
});

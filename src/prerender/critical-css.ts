import { createGenerator } from "unocss";
import theme from "#app/theme.css?raw";
import type { StyleRule } from "#contract/wire/document/document-headers.ts";
import firstViewRules from "#first-view/first-view.css?raw";
import unoConfig from "../../uno.config.ts";

/** Sources of the classes of entry pages and first views, by path from the project root. */
const sources = import.meta.glob<string>(
  ["/src/features/auth/**/*.{ts,tsx}", "/src/components/**/*.{ts,tsx}", "/src/first-view/*.ts"],
  { query: "?raw", eager: true, import: "default" },
);

/** Path from the project root of a relative or aliased import. */
const resolveModule = (from: string, to: string): string =>
  to.startsWith("#") ? `/src/${to.slice(1)}` : new URL(to, `file://${from}`).pathname;

/** Text of a module and all its imports within `sources`: everything it may show, in later states too. */
const collectSources = (path: string, visited = new Set<string>()): string => {
  const text = sources[path];
  if (text === undefined || visited.has(path)) return "";
  visited.add(path);
  const imports = [...text.matchAll(/^import [^;]*?from "([.#][^"]+)"/gm)].map(([, to = ""]) =>
    resolveModule(path, to),
  );
  return [text, ...imports.map((to) => collectSources(to, visited))].join("\n");
};

const minify = (css: string): string =>
  css
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\s+/g, " ")
    .replace(/ ?([{};:,>]) ?/g, "$1")
    .replace(/;\}/g, "}")
    .trim();

const generator = createGenerator(unoConfig);

/** Complete and minimal CSS of these modules: colours and reset first, then their utility classes. */
export const criticalCss = async (modules: string[]): Promise<string> => {
  const uno = await (await generator).generate(modules.map((path) => collectSources(path)).join("\n"), {
    minify: true,
  });
  return minify(theme) + uno.css;
};

const iconRule = /:where\(\.(i-ph-[\w-]+)\)\{[^}]*\}/g;

/** Separates the rules of icons, by class, from the other rules. */
const separateIcons = (css: string): { css: string; icons: Record<string, string> } => ({
  css: css.replace(iconRule, ""),
  icons: Object.fromEntries([...css.matchAll(iconRule)].map(([rule, name = ""]) => [name, rule])),
});

/** A block of a stylesheet, which may contain others. */
const block = /[^{}]+\{(?:[^{}]|\{[^{}]*\})*\}/g;
/** A selector of one class, with or without a state or a part of the element. */
const classSelector = /^\.((?:\\.|[\w-])+)(?:::?[\w-]+)?$/;

/** Classes of a block that is for certain classes only. */
const findClasses = (rule: string): string[] | undefined => {
  const selectors = rule.slice(0, rule.indexOf("{")).split(/(?<!\\),/);
  const classes = selectors.map((selector) => classSelector.exec(selector)?.[1]?.replace(/\\(.)/g, "$1"));
  return classes.every((name) => name !== undefined) ? classes : undefined;
};

/**
 * Styles of the first views, rule by rule: a view needs less than half of them, and the Worker leaves out those of other
 * classes. `script` may add the classes that it names. Icons stand at the end.
 */
export const firstViewStyles = async (script: string): Promise<StyleRule[]> => {
  const { css, icons } = separateIcons((await criticalCss(["/src/first-view/first-view.ts"])) + minify(firstViewRules));
  const rules = (css.match(block) ?? []).map((rule): StyleRule => {
    const classes = findClasses(rule);
    return classes && !classes.some((name) => script.includes(name)) ? { css: rule, classes } : { css: rule };
  });
  if (rules.map((rule) => rule.css).join("") !== css) throw new Error("critical-css.ts: a style is not a block");
  return [...rules, ...Object.entries(icons).map(([name, rule]) => ({ css: rule, classes: [name] }))];
};

/**
 * Splits the styles of a page: `late` are the icons that only later states of it show, for the end of the document, so
 * that the first paint does not wait for them.
 */
export const splitLateIcons = (css: string, html: string): { css: string; late: string } => {
  const { icons } = separateIcons(css);
  const lateNames = Object.keys(icons).filter((name) => !new RegExp(`\\b${name}(?![\\w-])`).test(html));
  return {
    css: css.replace(iconRule, (rule, name: string) => (lateNames.includes(name) ? "" : rule)),
    late: lateNames.map((name) => icons[name]).join(""),
  };
};

import { createGenerator } from "unocss";
import theme from "#app/theme.css?raw";
import unoConfig from "../../uno.config.ts";

/** The sources whose classes may stand on an entry page, by path from the root of the project. */
const sources = import.meta.glob<string>(["/src/features/auth/**/*.{ts,tsx}", "/src/components/**/*.{ts,tsx}"], {
  query: "?raw",
  eager: true,
  import: "default",
});

/** Path from the root of the project of what a module imports relatively or by an alias of package.json. */
const resolveModule = (from: string, to: string): string =>
  to.startsWith("#") ? `/src/${to.slice(1)}` : new URL(to, `file://${from}`).pathname;

/** The text of a module and of all it imports from among `sources`: whatever it may show, later states included. */
const collectSources = (path: string, seen = new Set<string>()): string => {
  const text = sources[path];
  if (text === undefined || seen.has(path)) return "";
  seen.add(path);
  const imports = [...text.matchAll(/^import [^;]*?from "([.#][^"]+)"/gm)].map(([, to = ""]) =>
    resolveModule(path, to),
  );
  return [text, ...imports.map((to) => collectSources(to, seen))].join("\n");
};

const minify = (css: string): string =>
  css
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\s+/g, " ")
    .replace(/ ?([{};:,>]) ?/g, "$1")
    .replace(/;\}/g, "}")
    .trim();

const generator = createGenerator(unoConfig);

/** All the CSS these modules can need, and no more: colours and reset first, then their utility classes. */
export const criticalCss = async (modules: string[]): Promise<string> => {
  const uno = await (await generator).generate(modules.map((path) => collectSources(path)).join("\n"), {
    minify: true,
  });
  return minify(theme) + uno.css;
};

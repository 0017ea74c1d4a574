import { createGenerator } from "unocss";
import unoConfig from "../../uno.config";
import theme from "../app/theme.css?raw";

/** The sources whose classes may stand on an entry page, by path, as this module imports them. */
const sources = import.meta.glob<string>(["../features/auth/*.{ts,tsx}", "../components/*.{ts,tsx}"], {
  query: "?raw",
  eager: true,
  import: "default",
});

const resolve = (from: string, to: string): string => {
  const parts = from.split("/").slice(0, -1);
  for (const step of to.split("/")) {
    if (step === "..") {
      if (parts.at(-1) === ".." || parts.length === 0) parts.push("..");
      else parts.pop();
    } else if (step !== ".") parts.push(step);
  }
  return parts.join("/");
};

/** The text of a module and of all it imports from among `sources`: whatever it may show, later states included. */
const collect = (path: string, seen = new Set<string>()): string => {
  const file = [path, `${path}.tsx`, `${path}.ts`].find((candidate) => candidate in sources);
  if (file === undefined || seen.has(file)) return "";
  seen.add(file);
  const text = sources[file] ?? "";
  const imports = [...text.matchAll(/^import [^;]*?from "(\.[^"]+)"/gm)].map(([, to = ""]) => resolve(file, to));
  return [text, ...imports.map((to) => collect(to, seen))].join("\n");
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
  const uno = await (await generator).generate(modules.map((path) => collect(path)).join("\n"), { minify: true });
  return minify(theme) + uno.css;
};

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { renderToString } from "react-dom/server";
import { documentHeaders, headersEverywhere } from "../../contract/document-headers";
import { languages } from "../../contract/language";
import type { Provider } from "../../contract/security";
import { Entry, type EntryName, loadEntryScreen } from "../entry-screens";
import { earlyScript, leaveScript } from "../features/auth/early";
import en from "../i18n/en.json";
import fr from "../i18n/fr.json";
import pt from "../i18n/pt.json";
import { createTranslate, showTexts, type TextKey } from "../i18n/setup";
import { endedCss, endedScript } from "../lib/ended";
import { owingCss, owingScript } from "../lib/owing";
import { showProviders } from "../lib/providers";
import { typedScript } from "../lib/typed";
import { finishAppShell } from "./app-shell";
import { criticalCss } from "./critical-css";
import { hashOf, type Manifest, renderPage, scriptsOf, showChosenLook, unloadedCss, watchScripts } from "./document";

/**
 * Runs after the client was built, with the folder it was built into: writes the entry pages in every language,
 * ready compressed, completes the app's index.html, and says which headers the static files carry.
 * `worker/documents.ts` serves the pages.
 */
const texts = { fr, en, pt };
type EntryScreen = { source: string; later?: string[]; title: TextKey; description: TextKey };
/** `later`: what such a page may show besides, once somebody did something; its styles come with the page. */
const screens: Record<EntryName, EntryScreen> = {
  welcome: { source: "welcome-screen", title: "auth.welcomeTitle", description: "auth.welcomeDescription" },
  register: { source: "register-screen", title: "auth.registerTitle", description: "auth.registerDescription" },
  login: {
    source: "login-screen",
    later: ["../features/auth/second-step"],
    title: "auth.loginTitle",
    description: "auth.loginDescription",
  },
  recover: {
    source: "recover-screen",
    later: ["../features/auth/second-step"],
    title: "auth.recoverTitle",
    description: "auth.recoverDescription",
  },
};

const client = process.argv[2];
if (!client) throw new Error("name the folder of the built client");
const manifest = JSON.parse(readFileSync(join(client, ".vite", "manifest.json"), "utf8")) as Manifest;

const compress = (text: string): Buffer =>
  brotliCompressSync(text, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT },
  });

/** What stands for a provider until somebody asks for the page: worker/provider-pages.ts. */
const providerMarks = { id: "%id%", name: "%name%" };

/** Whoever is signed in may still confirm an address, or have forgotten the password. */
const inlineScriptOf = (name: EntryName): string =>
  showChosenLook +
  watchScripts +
  (name === "recover" ? "" : leaveScript) +
  (name === "login" || name === "recover" ? owingScript(name) : "") +
  (name === "login" ? endedScript : "") +
  (name === "login" || name === "register" ? typedScript(name) : "") +
  earlyScript;
const folder = join(client, "entry");
mkdirSync(folder, { recursive: true });
const headers: Partial<Record<EntryName, Record<string, string>>> = {};

for (const name of Object.keys(screens) as EntryName[]) {
  const { source, later = [], title, description } = screens[name];
  const { default: Screen } = await loadEntryScreen[name]();
  const css =
    (await criticalCss([`../features/auth/${source}`, "../components/toast", ...later])) +
    unloadedCss +
    owingCss +
    (name === "login" ? endedCss : "");
  const inlineScript = inlineScriptOf(name);
  headers[name] = documentHeaders([hashOf(inlineScript)], [hashOf(css)]);
  for (const language of languages) {
    showTexts(language, texts[language]);
    const t = createTranslate(language, texts[language]);
    const render = (providers: readonly Provider[]) => {
      showProviders(providers);
      return renderToString(<Entry Screen={Screen} />);
    };
    const page = {
      language,
      t,
      title: t(title),
      description: t(description),
      css,
      inlineScript,
      entryScript: `/${manifest["src/entry.tsx"]?.file}`,
      preloads: ["src/entry.tsx", `src/features/auth/${source}.tsx`, `src/i18n/${language}.json?entry`].flatMap(
        (module) => scriptsOf(manifest, module),
      ),
    };
    const html = renderPage({ ...page, body: render([]) });
    // No .html: nobody gets these but through the Worker, which sends the headers they need.
    writeFileSync(join(folder, `${name}.${language}.page`), html);
    writeFileSync(join(folder, `${name}.${language}.page.br`), compress(html));
    const template = renderPage({ ...page, body: render([providerMarks]), providers: "%providers%" });
    if (template.includes(providerMarks.id)) {
      writeFileSync(join(folder, `${name}.${language}.providers.page`), template);
    }
  }
}
writeFileSync(join(folder, "headers.json"), JSON.stringify(headers));

const index = join(client, "index.html");
const shell = finishAppShell(readFileSync(index, "utf8"), manifest);
writeFileSync(index, shell.html);

const toLines = (named: Record<string, string>): string =>
  Object.entries(named)
    .map(([name, value]) => `  ${name}: ${value}\n`)
    .join("");
writeFileSync(
  join(client, "_headers"),
  [
    `/*\n${toLines({ ...headersEverywhere, ...documentHeaders(shell.scriptHashes, shell.styleHashes) })}`,
    `/assets/*\n${toLines({ "cache-control": "public, max-age=31536000, immutable" })}`,
    `/sw.js\n${toLines({ "cache-control": "no-cache" })}`,
  ].join("\n"),
);

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { renderToString } from "react-dom/server";
import type { Provider } from "#contract/auth/security.ts";
import { type Language, languages, toManifestPath } from "#contract/language.ts";
import { clientFileHeaders, documentHeaders, headersEverywhere } from "#contract/wire/document/document-headers.ts";
import { earlyInputScript, signedInRedirectScript } from "#features/auth/form/early-input.ts";
import { renderFirstView } from "#first-view/first-view.ts";
import firstViewScript from "#first-view/script/script.ts?script";
import { fillTemplate } from "#first-view/template.ts";
import en from "#i18n/en.json";
import fr from "#i18n/fr.json";
import pt from "#i18n/pt.json";
import { activateTexts, createTranslate, type TextKey } from "#i18n/setup.ts";
import { buildFormSaveScript } from "#lib/browser/form-restore.ts";
import { buildPendingSecondFactorScript, pendingSecondFactorCss } from "#lib/factors/pending-second-factor.ts";
import { setPageProviders } from "#lib/factors/providers.ts";
import { sessionEndedCss, sessionEndedScript } from "#lib/session/session-ended-note.ts";
import { type EntryPageName, EntryRoot, entryScreenLoaders } from "../entry-screens.tsx";
import { completeAppShell, completeAppTemplate } from "./app-shell.ts";
import { criticalCss, firstViewStyles, splitLateIcons } from "./critical-css.ts";
import {
  appearanceScript,
  type BuildManifest,
  listModuleScripts,
  loadFailureCss,
  loadFailureScript,
  renderEntryPage,
  toCspHash,
} from "./document.ts";
import { firstViewSamples } from "./first-view-samples.ts";
import { createWebManifest } from "./web-manifest.ts";

/**
 * Runs after the client build, with its output folder: writes the entry pages in every language, also compressed,
 * completes the app's index.html, and writes the headers of the static files. `worker/service/documents.ts` serves the
 * pages.
 */
const texts = { fr, en, pt };
type EntryScreen = { source: string; lazyModules?: string[]; title: TextKey; description: TextKey };
/** `lazyModules`: modules that the page may load after an action; their styles are included in the page. */
const entryScreens: Record<EntryPageName, EntryScreen> = {
  welcome: { source: "welcome-screen", title: "auth.welcomeTitle", description: "auth.welcomeDescription" },
  register: {
    source: "register-screen",
    lazyModules: ["/src/components/controls/picture-cropper.tsx"],
    title: "auth.registerTitle",
    description: "auth.registerDescription",
  },
  login: {
    source: "login-screen",
    lazyModules: ["/src/features/auth/flows/second-factor-step.tsx"],
    title: "auth.loginTitle",
    description: "auth.loginDescription",
  },
  recover: {
    source: "recover-screen",
    lazyModules: ["/src/features/auth/flows/second-factor-step.tsx"],
    title: "auth.recoverTitle",
    description: "auth.recoverDescription",
  },
};

const client = process.argv[2];
if (!client) throw new Error("Pass the folder of the built client");
const manifest = JSON.parse(readFileSync(join(client, ".vite", "manifest.json"), "utf8")) as BuildManifest;

const compressBrotli = (text: string): Buffer =>
  brotliCompressSync(text, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT },
  });

/** Placeholder of a provider until the page is requested: worker/service/provider-pages.ts. */
const providerMarks = { id: "%id%", name: "%name%" };

/** A signed-in person may use the recovery page: to confirm an address, or after forgetting the password. */
const buildInlineScript = (name: EntryPageName): string =>
  appearanceScript +
  loadFailureScript +
  (name === "recover" ? "" : signedInRedirectScript) +
  (name === "login" || name === "recover" ? buildPendingSecondFactorScript(name) : "") +
  (name === "login" ? sessionEndedScript : "") +
  (name === "login" || name === "register" ? buildFormSaveScript(name) : "") +
  earlyInputScript;
const folder = join(client, "entry");
mkdirSync(folder, { recursive: true });
const headers: Partial<Record<EntryPageName, Record<string, string>>> = {};

for (const name of Object.keys(entryScreens) as EntryPageName[]) {
  const { source, lazyModules = [], title, description } = entryScreens[name];
  const { default: Screen } = await entryScreenLoaders[name]();
  const styles =
    (await criticalCss([
      `/src/features/auth/screens/${source}.tsx`,
      "/src/components/overlays/toast.tsx",
      ...lazyModules,
    ])) +
    loadFailureCss +
    pendingSecondFactorCss +
    (name === "login" ? sessionEndedCss : "");
  const render = (providers: readonly Provider[]) => {
    setPageProviders(providers);
    return renderToString(<EntryRoot Screen={Screen} />);
  };
  activateTexts("fr", texts.fr);
  const { css, late: lateCss } = splitLateIcons(styles, render([providerMarks]));
  const inlineScript = buildInlineScript(name);
  headers[name] = documentHeaders([toCspHash(inlineScript)], [toCspHash(css), toCspHash(lateCss)]);
  for (const language of languages) {
    activateTexts(language, texts[language]);
    const t = createTranslate(language, texts[language]);
    const page = {
      language,
      t,
      title: t(title),
      description: t(description),
      css,
      lateCss,
      inlineScript,
      entryScript: `/${manifest["src/entry.tsx"]?.file}`,
      preloads: ["src/entry.tsx", `src/features/auth/screens/${source}.tsx`, `src/i18n/${language}.json?entry`].flatMap(
        (module) => listModuleScripts(manifest, module),
      ),
    };
    const html = renderEntryPage({ ...page, body: render([]) });
    // Not .html: only the Worker serves these pages, with the headers they need.
    writeFileSync(join(folder, `${name}.${language}.page`), html);
    writeFileSync(join(folder, `${name}.${language}.page.br`), compressBrotli(html));
    const template = renderEntryPage({ ...page, body: render([providerMarks]), providers: "%providers%" });
    if (template.includes(providerMarks.id)) {
      writeFileSync(join(folder, `${name}.${language}.providers.page`), template);
    }
  }
}

for (const language of languages)
  writeFileSync(
    join(client, toManifestPath(language)),
    JSON.stringify(createWebManifest(language, createTranslate(language, texts[language]))),
  );

const index = join(client, "index.html");
const shell = completeAppShell(readFileSync(index, "utf8"), manifest);
writeFileSync(index, shell.html);
const hints = Object.fromEntries(
  languages.map((language) => {
    const t = createTranslate(language, texts[language]);
    return [language, `${t("auth.loadFailed")} ${t("common.retry")}`];
  }),
) as Record<Language, string>;
const template = completeAppTemplate(shell.html, hints, await firstViewStyles(firstViewScript));
writeFileSync(join(folder, "app-template.json"), JSON.stringify(template));

// Beside the served folder, for the byte budget.
const samples = join(client, "..", "first-views");
mkdirSync(samples, { recursive: true });
for (const [name, view] of Object.entries(firstViewSamples)) {
  activateTexts("fr", texts.fr);
  const drawn = renderFirstView(view, createTranslate("fr", texts.fr)).html;
  const content = { user: "", language: "fr", view: drawn, data: "" } as const;
  writeFileSync(join(samples, `${name}.html`), (await fillTemplate(template, content)).html);
}
writeFileSync(join(folder, "headers.json"), JSON.stringify(headers));

const weekSeconds = 7 * 24 * 3_600;
const toHeaderLines = (named: Record<string, string>): string =>
  Object.entries(named)
    .map(([name, value]) => `  ${name}: ${value}\n`)
    .join("");
const toRemovalLines = (names: readonly string[]): string => names.map((name) => `  ! ${name}\n`).join("");
const pageHeaders = { ...headersEverywhere, ...documentHeaders(shell.scriptHashes, shell.styleHashes) };
writeFileSync(
  join(client, "_headers"),
  [
    `/*\n${toHeaderLines(pageHeaders)}`,
    // Replaces the headers of pages: those of several matching rules would be joined.
    `/assets/*\n${toRemovalLines(Object.keys(pageHeaders))}${toHeaderLines(clientFileHeaders)}`,
    `/sw.js\n${toHeaderLines({ "cache-control": "no-cache" })}`,
    // A notification is shown only once its pictures are there: without this, a request for each every time.
    ...["/icon-192.png", "/badge-96.png"].map(
      (path) => `${path}\n${toHeaderLines({ "cache-control": `public, max-age=${weekSeconds}` })}`,
    ),
  ].join("\n"),
);

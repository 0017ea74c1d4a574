import { createHash } from "node:crypto";
import { type Language, toManifestPath } from "#contract/language.ts";
import type { Translate } from "#i18n/setup.ts";
import { appearanceKey, applyAppearance } from "#lib/browser/appearance.ts";
import { inlineLoadWithRetry } from "#lib/browser/load-failure.ts";

/** Vite's build manifest. */
export type BuildManifest = Record<
  string,
  { file: string; src?: string; isEntry?: boolean; imports?: string[]; dynamicImports?: string[]; css?: string[] }
>;

export const toCspHash = (text: string): string => `sha256-${createHash("sha256").update(text).digest("base64")}`;

/** Scripts a module needs, its own first. */
export const listModuleScripts = (manifest: BuildManifest, source: string, visited = new Set<string>()): string[] => {
  const chunk = manifest[source];
  if (!chunk || visited.has(source)) return [];
  visited.add(source);
  return [
    `/${chunk.file}`,
    ...(chunk.imports ?? []).flatMap((imported) => listModuleScripts(manifest, imported, visited)),
  ];
};

const renderPreloads = (scripts: string[]): string =>
  [...new Set(scripts)].map((src) => `<link rel="modulepreload" href="${src}" fetchpriority="low">`).join("");

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c] ?? c);

/** Notice that a script could not be loaded, outside the hydrated root. `inlineLoadWithRetry` shows it. */
const renderLoadFailureNotice = (text: string, retry: string): string =>
  `<p id="unloaded" role="alert" hidden>${escapeHtml(text)} <a href="">${escapeHtml(retry)}</a></p>`;

/** Inline script that loads scripts again that could not be loaded, so that a page without code does not look usable. */
export const loadFailureScript = `loadWithRetry=${inlineLoadWithRetry};addEventListener("error",({target:{tagName:t,src:u}})=>{t=="SCRIPT"&&loadWithRetry(()=>import(u))},true);`;

/** Inline script that applies the chosen colours and text size before the first paint. */
export const appearanceScript = `try{(${applyAppearance})(localStorage.${appearanceKey}||"")}catch{}`;

export const loadFailureCss =
  "#unloaded{position:fixed;inset:auto 0 0;margin:0;padding:16px;text-align:center;" +
  "background:var(--danger-fill);color:#fff;font-weight:600;z-index:60}#unloaded a{text-decoration:underline}";

export type EntryPage = {
  language: Language;
  t: Translate;
  title: string;
  description: string;
  body: string;
  css: string;
  /** Styles of states that the page does not begin with. */
  lateCss: string;
  inlineScript: string;
  entryScript: string;
  preloads: string[];
  /** JSON, see src/lib/factors/providers.ts. */
  providers?: string;
};

/** Complete entry page: it paints and accepts input without any other file. */
export const renderEntryPage = (page: EntryPage): string => {
  const { t } = page;
  return [
    `<!doctype html><html lang="${page.language}"><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width,initial-scale=1,viewport-fit=cover,interactive-widget=resizes-content">',
    `<title>${escapeHtml(page.title)} · Lisolo</title>`,
    `<meta name="description" content="${escapeHtml(page.description)}">`,
    '<meta name="theme-color" content="#fbf7f4" media="(prefers-color-scheme:light)">',
    '<meta name="theme-color" content="#17121a" media="(prefers-color-scheme:dark)">',
    page.providers === undefined ? "" : `<meta name="providers" content="${escapeHtml(page.providers)}">`,
    `<link rel="icon" href="/favicon.svg" type="image/svg+xml"><link rel="manifest" href="${toManifestPath(page.language)}">`,
    `<script>${page.inlineScript}</script><style>${page.css}</style></head>`,
    `<body><div id="root">${page.body}</div>`,
    renderLoadFailureNotice(t("auth.loadFailed"), t("common.retry")),
    `<style>${page.lateCss}</style>`,
    renderPreloads(page.preloads),
    `<script type="module" src="${page.entryScript}" fetchpriority="low"></script></body></html>`,
  ].join("");
};

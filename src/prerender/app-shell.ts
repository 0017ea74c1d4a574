import { defaultLanguage, languageParameter, languages, toManifestPath } from "#contract/language.ts";
import { messageTextMaxLength } from "#contract/limits/messages.ts";
import type { AppTemplate, StyleRule } from "#contract/wire/document/document-headers.ts";
import { documentDataId, firstViewId } from "#contract/wire/document/document-names.ts";
import firstViewScript from "#first-view/script/script.ts?script";
import { appearanceScript, type BuildManifest, listModuleScripts, loadFailureScript, toCspHash } from "./document.ts";

const extractInline = (html: string, tag: "script" | "style"): string[] =>
  [...html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, "g"))].map(([, text = ""]) => text);

/** Pages of the app that a document preloads, by a pattern of their paths. */
const pages = [
  { source: "src/features/conversations/conversations-screen.tsx", pattern: "^/app/?$" },
  { source: "src/features/chat/private-chat-screen.tsx", pattern: "^/app/chat/" },
  { source: "src/features/chat/group-chat-screen.tsx", pattern: "^/app/group/[^/]+/?$" },
];

/** File whose arrival lets the second stage begin: the larger ones of the first stage are then still on their way. */
const firstArrived = /\/core-/;

/**
 * Inline script that preloads the app in two stages: first what opens the store, then the texts, the app and the code of
 * the page, so that a slow link brings the store's code first and the processor works while the rest arrives. It guesses
 * the language from the URL, the cookie and the browser by a shorter rule than `detectLanguage`; a wrong guess costs one
 * extra file.
 */
const buildPreloadScript = (manifest: BuildManifest): string => {
  const texts = languages.map((language) => [language, `/${manifest[`src/i18n/${language}.json?app`]?.file}`]);
  const loaded = new Set(listModuleScripts(manifest, "index.html"));
  const listOthers = (source: string) => listModuleScripts(manifest, source).filter((script) => !loaded.has(script));
  const app = listOthers("src/app-root.tsx");
  for (const script of app) loaded.add(script);
  const screens = pages.map(({ source, pattern }) => [pattern, listOthers(source)]);
  const core = [...loaded].find((script) => firstArrived.test(script));
  if (!core) throw new Error("src/prerender/app-shell.ts: the build has no file named core");
  const known = languages.join("|");
  return (
    "try{" +
    'const a=h=>{const l=document.createElement("link");l.rel="modulepreload";l.fetchPriority="low";l.href=h;document.head.append(l);return l},' +
    `f=${JSON.stringify(Object.fromEntries(texts))},c=document.cookie.match(/(?:^|; )lang=(${known})(?:;|$)/),` +
    "n=navigator.languages.map(l=>l.slice(0,2).toLowerCase()).find(l=>f[l])," +
    `p=new URLSearchParams(location.search).get("${languageParameter}");` +
    `a(${JSON.stringify(core)}).onload=()=>{${JSON.stringify(app)}.forEach(a);a(f[p]||f[c&&c[1]]||f[n]||f.fr);` +
    `for(const[p,s]of ${JSON.stringify(screens)})if(new RegExp(p).test(location.pathname))s.forEach(a)}}catch{}`
  );
};

/**
 * Completes Vite's index.html: the stylesheet moves below the drawn shell, so that it does not delay the shell's paint,
 * and the texts are preloaded before the stylesheet, which would delay inline scripts.
 */
export const completeAppShell = (built: string, manifest: BuildManifest) => {
  const styles = [...built.matchAll(/\s*<link rel="stylesheet"[^>]*>/g)].map(([tag]) => tag);
  const html = styles
    .reduce((text, tag) => text.replace(tag, ""), built)
    .replace("<script>", () => `<script>${appearanceScript}${loadFailureScript}`)
    .replace("</body>", `<script>${buildPreloadScript(manifest)}</script>${styles.join("")}</body>`);
  return {
    html,
    scriptHashes: extractInline(html, "script").map(toCspHash),
    styleHashes: extractInline(html, "style").map(toCspHash),
  };
};

/** The first view covers the skeleton of the app until the app has drawn the same. */
const firstViewCss =
  `#${firstViewId}{position:fixed;inset:0;z-index:50;background:var(--bg)}#${firstViewId}:empty{display:none}#root[inert]{visibility:hidden}#root[inert] *{animation:none!important}` +
  // Each icon is a picture that takes as long to load as many lines of text: the text is painted before them.
  `#${firstViewId}:not([data-painted]) [class*=i-ph-]{-webkit-mask:none!important;mask:none!important;background:none!important}` +
  // The notice that loading stopped stands right below the view instead of covering its newest message.
  `html:has(#unloaded:not([hidden])) #${firstViewId}{bottom:4.5rem}` +
  `#${firstViewId}:not(:empty)~#unloaded:not([hidden]){display:grid;place-content:center;height:4.5rem;padding:0 16px}`;

/**
 * Delays the first paint until the view and its script are parsed, that is up to the element after them. A chat painted
 * while its document arrives would move with every further message.
 */
const expectLink = '<link rel="expect" href="#unloaded" blocking="render">';

/**
 * The completed page with marks that the Worker fills with a person's content and with the styles of its classes
 * (worker/service/app-document).
 */
export const completeAppTemplate = (page: string, hints: AppTemplate["hints"], styles: StyleRule[]) => {
  // Requested while the document arrives, and with low priority: behind the view, and behind what is sent from it.
  const preloads = [...page.matchAll(/\s*<link rel="modulepreload"[^>]*>/g)].map(([tag]) => tag);
  const scripts = [...page.matchAll(/\s*<script type="module"[^>]*><\/script>/g)].map(([tag]) => tag);
  const joinWithLowPriority = (tags: readonly string[]) =>
    tags.map((tag) => tag.trim().replace(" crossorigin", ' crossorigin fetchpriority="low"')).join("");
  const html = [...preloads, ...scripts]
    .reduce((text, tag) => text.replace(tag, ""), page)
    .replace('<html lang="fr">', '<html lang="%language%">')
    .replace(toManifestPath(defaultLanguage), "/manifest.%language%.webmanifest")
    .replace("</head>", () => `${joinWithLowPriority(preloads)}<style>%css%</style>${expectLink}</head>`)
    .replace(
      '<div id="root">',
      () =>
        `<div id="${firstViewId}" data-user="%user%" data-conversation="%conversation%" data-day="%day%" data-max-length="${messageTextMaxLength}">%view%</div>` +
        `<div id="root">`,
    )
    .replace('<p id="unloaded"', () => `<script>${firstViewScript}</script><p id="unloaded"`)
    .replace(/(<a href="\?">)[^<]*/, "$1%hint%")
    .replace(
      "</body>",
      `<script type="application/json" id="${documentDataId}">%data%</script>${joinWithLowPriority(scripts)}</body>`,
    );
  return {
    html,
    hints,
    styles: [...styles, { css: firstViewCss }],
    scriptHashes: extractInline(html, "script").map(toCspHash),
    styleHashes: extractInline(page, "style").map(toCspHash),
  } satisfies AppTemplate;
};

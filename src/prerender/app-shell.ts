import { hashOf, type Manifest, preloads, scriptsOf, watchScripts } from "./document";

/** What the opening route of the app needs besides the main script: the shell and the conversation list. */
const openingModules = ["src/main.tsx", "src/app/shell.tsx", "src/features/conversations/masolo-screen.tsx"];

const inlineOf = (html: string, tag: "script" | "style"): string[] =>
  [...html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, "g"))].map(([, text = ""]) => text);

/**
 * Completes Vite's index.html: the stylesheet moves below the drawn shell, so that the shell is painted without
 * waiting for it, and the modules of the opening route are fetched side by side.
 */
export const finishAppShell = (built: string, manifest: Manifest) => {
  const styles = [...built.matchAll(/\s*<link rel="stylesheet"[^>]*>/g)].map(([tag]) => tag);
  const main = scriptsOf(manifest, "index.html");
  const later = openingModules.flatMap((module) => scriptsOf(manifest, module)).filter((src) => !main.includes(src));
  const html = styles
    .reduce((text, tag) => text.replace(tag, ""), built)
    .replace("<script>", `<script>${watchScripts}`)
    .replace("</body>", `${styles.join("")}${preloads(later)}</body>`);
  return {
    html,
    scriptHashes: inlineOf(html, "script").map(hashOf),
    styleHashes: inlineOf(html, "style").map(hashOf),
  };
};

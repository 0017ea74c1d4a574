import { createHash } from "node:crypto";
import { type AppTemplate, documentHeaders } from "#contract/document-headers.ts";
import type { Language } from "#contract/language.ts";
import type { DocumentData } from "#contract/wire/document-data.ts";

let template: Promise<AppTemplate | undefined> | undefined;

const readTemplate = async (env: Env, request: Request): Promise<AppTemplate | undefined> => {
  const response = await env.ASSETS.fetch(new Request(new URL("/entry/app-template.json", request.url)));
  // Development: nothing is prerendered, and a missing file is answered with the app's page.
  const isPrerendered = response.headers.get("content-type")?.includes("json") ?? false;
  return isPrerendered ? response.json<AppTemplate>() : undefined;
};

/** Template of this version, read once per isolate. */
export const getTemplate = async (env: Env, request: Request): Promise<AppTemplate | undefined> => {
  template ??= readTemplate(env, request);
  const found = await template.catch(() => undefined);
  if (!found) template = undefined;
  return found;
};

/** JSON that cannot end its script element. */
const toScriptJson = (data: DocumentData): string => JSON.stringify(data).replaceAll("<", "\\u003c");

/** Styles of a first view with the icons that it contains. */
const selectStyles = ({ css, icons }: AppTemplate, view: string): string => {
  const used = new Set(view.match(/\bi-ph-[\w-]+/g));
  return css + [...used].map((name) => icons[name] ?? "").join("");
};

type DocumentContent = {
  language: Language;
  /** Markup of the first view, or nothing. */
  view: string;
  /** Conversation that the composer writes to. */
  conversation: string | undefined;
  /** Text of the link that loads the page again, shown if a script cannot be loaded. */
  hint: string;
  data: DocumentData;
};

/** Fills the template. The security policy names the hash of the styles. */
export const fillTemplate = (
  filled: AppTemplate,
  { language, view, conversation = "", hint, data }: DocumentContent,
): { html: string; headers: Record<string, string> } => {
  const css = selectStyles(filled, view);
  const hash = `sha256-${createHash("sha256").update(css).digest("base64")}`;
  return {
    html: filled.html
      .replace("%language%", language)
      .replace("%user%", data.user)
      .replace("%conversation%", conversation)
      .replace("%hint%", () => hint)
      .replace("%css%", () => css)
      .replace("%view%", () => view)
      .replace("%data%", () => toScriptJson(data)),
    headers: documentHeaders(filled.scriptHashes, [...filled.styleHashes, hash]),
  };
};

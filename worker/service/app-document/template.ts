import type { Language } from "#contract/language.ts";
import type { DocumentData } from "#contract/wire/document-data.ts";

/** Page with marks for language, first view and data, written by `src/prerender/app-shell.ts`. */
export type Template = { html: string; headers: Record<string, string> };

let template: Promise<Template | undefined> | undefined;

const fetchText = async (env: Env, request: Request, path: string): Promise<string | undefined> => {
  const response = await env.ASSETS.fetch(new Request(new URL(path, request.url)));
  // A missing file is answered with the app's page.
  const isFile = response.ok && !response.headers.get("content-type")?.startsWith("text/html");
  return isFile ? response.text() : undefined;
};

const readTemplate = async (env: Env, request: Request): Promise<Template | undefined> => {
  const [html, headers] = await Promise.all([
    fetchText(env, request, "/entry/app.page"),
    fetchText(env, request, "/entry/headers.json"),
  ]);
  if (html === undefined || headers === undefined) return undefined; // development: nothing is prerendered
  const { app } = JSON.parse(headers) as { app?: Record<string, string> };
  return app && { html, headers: app };
};

/** Template of this version, read once per isolate. */
export const getTemplate = async (env: Env, request: Request): Promise<Template | undefined> => {
  template ??= readTemplate(env, request);
  const found = await template.catch(() => undefined);
  if (!found) template = undefined;
  return found;
};

/** JSON that cannot end its script element. */
const toScriptJson = (data: DocumentData): string => JSON.stringify(data).replaceAll("<", "\\u003c");

type Content = {
  language: Language;
  content: string | undefined;
  /** Conversation that the composer writes to. */
  conversation: string | undefined;
  data: DocumentData;
};

export const fillTemplate = (html: string, { language, content = "", conversation = "", data }: Content): string =>
  html
    .replace("%language%", language)
    .replace("%user%", data.user)
    .replace("%conversation%", conversation)
    .replace("%view%", () => content)
    .replace("%data%", () => toScriptJson(data));

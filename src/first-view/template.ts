import type { Language } from "#contract/language.ts";
import { type AppTemplate, documentHeaders } from "#contract/wire/document/document-headers.ts";

/** Content of the app's document, filled into its template. */
export type DocumentContent = {
  /** Person whose view it is. */
  user: string;
  language: Language;
  /** Markup of the first view, or nothing. */
  view: string;
  /** Conversation that the composer writes to. */
  conversation?: string | undefined;
  /** Local day on which a view of a snapshot was drawn, as `toDateString` writes it. */
  day?: string | undefined;
  /** JSON for the app. */
  data: string;
};

const marks = /%(language|user|conversation|day|hint|css|view|data)%/g;

const escapeAttribute = (text: string): string => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

/** Styles of the classes that a first view contains. Words of its texts may add some that it does not need. */
const selectStyles = ({ styles }: AppTemplate, view: string): string => {
  const words = new Set(view.match(/[^\s"]+/g));
  return styles
    .filter(({ classes }) => classes?.some((name) => words.has(name)) ?? true)
    .map(({ css }) => css)
    .join("");
};

const hashStyles = async (css: string): Promise<string> => {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(css));
  return `sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}`;
};

/**
 * Caching of the app's page. It contains a person's content. Besides, WebKit does not freeze a page that is not to be
 * stored when the person leaves it: a frozen page may hold a transaction of the local database, which no other page can
 * then read (https://github.com/w3c/IndexedDB/issues/381).
 */
export const appPageCaching = "private, no-store";

/** Fills the template, in the Worker or in the service worker. The security policy names the hash of the styles. */
export const fillTemplate = async (
  template: AppTemplate,
  { user, language, view, conversation = "", day = "", data }: DocumentContent,
): Promise<{ html: string; headers: Record<string, string> }> => {
  const css = selectStyles(template, view);
  const values: Readonly<Record<string, string>> = {
    language,
    user: escapeAttribute(user),
    conversation: escapeAttribute(conversation),
    day: escapeAttribute(day),
    hint: template.hints[language],
    css,
    view,
    data: data.replaceAll("<", "\\u003c"), // nothing in the data can end its script element
  };
  return {
    // In one pass, because the values may contain marks of the template themselves.
    html: template.html.replace(marks, (mark, name: string) => values[name] ?? mark),
    headers: {
      ...documentHeaders(template.scriptHashes, [...template.styleHashes, await hashStyles(css)]),
      "cache-control": appPageCaching,
    },
  };
};

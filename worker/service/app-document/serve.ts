import { brotliCompressSync, constants } from "node:zlib";
import { type Language, resolveLanguage } from "#contract/language.ts";
import type { AppTemplate } from "#contract/wire/document/document-headers.ts";
import { timeZoneCookie } from "#contract/wire/document/document-names.ts";
import { renderFirstView } from "#first-view/first-view.ts";
import { appPageCaching, fillTemplate } from "#first-view/template.ts";
import { drawInLanguage } from "#first-view/texts.ts";
import { findDocumentCaller } from "#worker/auth/sessions/document-session.ts";
import { acceptsBrotli } from "#worker/lib/http/content-negotiation.ts";
import { takeUserToken } from "#worker/lib/limits/request-limit.ts";
import { logError } from "#worker/lib/log.ts";
import { type DocumentView, parseDocumentPath, readDocumentView } from "./read-view.ts";
import { getTemplate } from "./template.ts";

const contentTimeoutMs = 300; // then the page is sent without content
const brotliQuality = 9; // some 10 ms for 60 kB

export const isAppPath = (pathname: string): boolean => pathname === "/app" || pathname.startsWith("/app/");

/** Whether a request opens a page. The service worker fetches the page without content for its cache. */
const isNavigation = (request: Request): boolean =>
  request.method === "GET" &&
  request.headers.get("sec-fetch-mode") === "navigate" &&
  !request.headers.has("sec-purpose");

const readCookie = (request: Request, name: string): string | undefined =>
  (request.headers.get("cookie") ?? "")
    .split(";")
    .map((pair) => pair.trim().split("="))
    .find(([key]) => key === name)?.[1];

/** Time zone named by an encoded text; undefined if there is no such zone. */
const parseTimeZone = (encoded: unknown): string | undefined => {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: decodeURIComponent(String(encoded)) }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
};

/** Time zone of the device, from its cookie, or of its network. */
const findTimeZone = (request: Request): string =>
  parseTimeZone(readCookie(request, timeZoneCookie)) ?? parseTimeZone(request.cf?.["timezone"]) ?? "UTC";

const waitAtMost = <T>(work: Promise<T>, ms: number): Promise<T | undefined> =>
  Promise.race([work, new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), ms))]);

/** Content of the requested page, or undefined if it gets none. */
const readContent = async (request: Request, env: Env): Promise<DocumentView | undefined> => {
  const caller = await findDocumentCaller(request, env);
  if (!caller) return undefined;
  const path = parseDocumentPath(new URL(request.url).pathname, caller.user);
  const taken = path && takeUserToken(caller.user);
  if (!path || !taken?.ok || taken.waitMs > 0) return undefined;
  return readDocumentView({ env, caller, timeZone: findTimeZone(request) }, path);
};

const respond = async (
  request: Request,
  template: AppTemplate,
  language: Language,
  { view, data }: DocumentView,
): Promise<Response> => {
  const drawn = view ? drawInLanguage(language, (t) => renderFirstView(view, t).html) : "";
  const { html, headers: documentHeaders } = await fillTemplate(template, {
    view: drawn,
    language,
    user: data.user,
    conversation: view?.type === "chat" ? view.conversation : undefined,
    data: JSON.stringify(data),
  });
  const headers = new Headers(documentHeaders);
  headers.set("content-type", "text/html; charset=utf-8");
  headers.set("content-language", language);
  if (!acceptsBrotli(request)) return new Response(html, { headers });
  const compressed = brotliCompressSync(html, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    },
  });
  headers.set("content-encoding", "br");
  return new Response(new Uint8Array(compressed), { headers, encodeBody: "manual" });
};

/**
 * Document of the app: the list or a chat with the person's own content, so that it is readable before any script runs
 * (docs/decisions/first-view.md). Without a session, for other screens, or if the objects do not answer in time, it is
 * the static page without content.
 */
export const serveAppDocument = async (request: Request, env: Env): Promise<Response> => {
  const serveStaticPage = async () => {
    const page = await env.ASSETS.fetch(request);
    const headers = new Headers(page.headers);
    headers.set("cache-control", appPageCaching);
    return new Response(page.body, { status: page.status, headers });
  };
  if (!isNavigation(request)) return serveStaticPage();
  try {
    const [template, content] = await Promise.all([
      getTemplate(env, request),
      waitAtMost(readContent(request, env), contentTimeoutMs),
    ]);
    if (!template || !content) return await serveStaticPage();
    const language = resolveLanguage({
      cookies: request.headers.get("cookie"),
      accept: request.headers.get("accept-language"),
    });
    return await respond(request, template, language, content);
  } catch (error) {
    logError("the app's document could not be filled", error);
    return serveStaticPage();
  }
};

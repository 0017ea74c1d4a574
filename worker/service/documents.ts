import { isLanguage, type Language, languageParameter, resolveLanguage, toLanguageCookie } from "#contract/language.ts";
import { listPublicProviders } from "#worker/auth/providers/providers.ts";
import { acceptsBrotli } from "#worker/lib/http/content-negotiation.ts";
import { matchesEtag } from "#worker/lib/http/etag.ts";
import { emptyHeaders } from "#worker/lib/http/security-headers.ts";
import { getProviderPage } from "./provider-pages.ts";

/**
 * Prerendered entry pages, written to the static files by `src/prerender`. Here they get their language, headers and
 * compression. In development they do not exist, and the app's own page is served.
 */
const pageNames: Readonly<Record<string, string>> = {
  "/": "welcome",
  "/register": "register",
  "/login": "login",
  "/recover": "recover",
};

type HeadersByPage = Record<string, Record<string, string>>;
let pageHeaders: Promise<HeadersByPage> | undefined;

const fetchAsset = (env: Env, request: Request, path: string, headers: HeadersInit = {}): Promise<Response> =>
  env.ASSETS.fetch(new Request(new URL(path, request.url), { headers }));

const readPageHeaders = async (env: Env, request: Request): Promise<HeadersByPage> => {
  const response = await fetchAsset(env, request, "/entry/headers.json");
  const isPrerendered = response.headers.get("content-type")?.includes("json") ?? false;
  return isPrerendered ? await response.json<HeadersByPage>() : {};
};

export const isDocument = (path: string): boolean => Object.hasOwn(pageNames, path);

const findPage = (env: Env, request: Request, page: string, isCompressed: boolean): Promise<Response> => {
  const condition = request.headers.get("if-none-match");
  return fetchAsset(
    env,
    request,
    `/entry/${page}.page${isCompressed ? ".br" : ""}`,
    condition === null ? {} : { "if-none-match": condition },
  );
};

/** Page with a button for each provider, if any is configured and the page has a place for them. */
const findProviderPage = async (
  env: Env,
  request: Request,
  page: string,
  isCompressed: boolean,
): Promise<Response | undefined> => {
  const providers = listPublicProviders(env);
  if (providers.length === 0 || !/^(login|register)\./.test(page)) return undefined;
  const template = await fetchAsset(env, request, `/entry/${page}.providers.page`);
  if (!template.ok) return undefined;
  const { html, brotli, etag } = getProviderPage(page, await template.text(), providers);
  const isKnown = matchesEtag(request.headers.get("if-none-match") ?? undefined, etag);
  return new Response(isKnown ? null : isCompressed ? brotli : html, {
    status: isKnown ? 304 : 200,
    headers: { etag },
  });
};

/** Serves an entry page in the visitor's language. `?lang=` comes from a language link and is saved. */
export const serveDocument = async (request: Request, env: Env): Promise<Response> => {
  const { pathname, searchParams } = new URL(request.url);
  const name = pageNames[pathname];
  if (request.method !== "GET" && request.method !== "HEAD") {
    return new Response(null, { status: 405, headers: { ...emptyHeaders, allow: "GET, HEAD" } });
  }
  pageHeaders ??= readPageHeaders(env, request);
  const pageHeader = (await pageHeaders)[name ?? ""];
  if (!pageHeader) {
    pageHeaders = undefined;
    return env.ASSETS.fetch(request);
  }

  const parameter = searchParams.get(languageParameter);
  const language: Language = resolveLanguage({
    parameter,
    cookies: request.headers.get("cookie"),
    accept: request.headers.get("accept-language"),
  });
  const isCompressed = acceptsBrotli(request);
  const page =
    (await findProviderPage(env, request, `${name}.${language}`, isCompressed)) ??
    (await findPage(env, request, `${name}.${language}`, isCompressed));

  const headers = new Headers(pageHeader);
  const etag = page.headers.get("etag");
  if (etag !== null) headers.set("etag", etag);
  // Revalidated each time by etag; not "no-store", which would prevent the back/forward cache.
  headers.set("cache-control", "private, no-cache");
  headers.set("vary", "Cookie, Accept-Language, Accept-Encoding");
  if (isLanguage(parameter)) headers.set("set-cookie", toLanguageCookie(language));
  if (page.status === 304) return new Response(null, { status: 304, headers });
  if (!page.ok) return new Response(null, { status: 503, headers });
  headers.set("content-type", "text/html; charset=utf-8");
  headers.set("content-language", language);
  if (!isCompressed) return new Response(page.body, { headers });
  headers.set("content-encoding", "br");
  return new Response(page.body, { headers, encodeBody: "manual" });
};

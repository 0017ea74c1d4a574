import { acceptsBrotli } from "#worker/lib/http/content-negotiation.ts";
import { emptyHeaders } from "#worker/lib/http/security-headers.ts";

/**
 * Scripts and styles of the client (docs/decisions/compressed-files.md). The build stores a second copy of each with
 * maximum brotli compression; the edge compresses uncompressed responses far less.
 */
const assetsFolder = "/assets/";
const types: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

export const isClientFile = (path: string): boolean => path.startsWith(assetsFolder);

const findContentType = (path: string): string | undefined =>
  types[/^[^/]+\.(js|css)$/.exec(path.slice(assetsFolder.length))?.[1] ?? ""];

/** Tests that the file exists. A missing one gets the app's HTML page, which would be cached as a script for a year. */
const isFound = (response: Response): boolean => !response.headers.get("content-type")?.startsWith("text/html");

const notFound = (): Response => new Response(null, { status: 404, headers: emptyHeaders });

const withHeaders = (response: Response, overrides: Record<string, string>, init: ResponseInit = {}): Response => {
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(overrides)) headers.set(name, value);
  return new Response(response.body, { ...init, status: response.status, headers });
};

/**
 * Serves the compressed copy. It has an etag of its own, so that a condition for the uncompressed file never matches
 * it.
 */
const serveCompressed = async (request: Request, env: Env, type: string): Promise<Response | undefined> => {
  const { pathname, origin } = new URL(request.url);
  const condition = request.headers.get("if-none-match");
  const compressed = await env.ASSETS.fetch(
    new Request(`${origin}${pathname}.br`, {
      method: request.method,
      headers: condition === null ? {} : { "if-none-match": condition },
    }),
  );
  if (!isFound(compressed) || (!compressed.ok && compressed.status !== 304)) return undefined;
  const overrides = {
    "content-type": type,
    vary: "accept-encoding",
    // `no-transform`: the response must pass unchanged, whatever the zone is configured to do.
    "cache-control": `${compressed.headers.get("cache-control")}, no-transform`,
  };
  if (compressed.status === 304) return withHeaders(compressed, overrides);
  return withHeaders(compressed, { ...overrides, "content-encoding": "br" }, { encodeBody: "manual" });
};

export const serveClientFile = async (request: Request, env: Env): Promise<Response> => {
  const { pathname } = new URL(request.url);
  if (pathname.endsWith(".br")) return notFound();
  const type = findContentType(pathname);
  const isRead = request.method === "GET" || request.method === "HEAD";
  const isNegotiable = type !== undefined && isRead && !request.headers.has("range");
  if (isNegotiable && acceptsBrotli(request)) {
    const compressed = await serveCompressed(request, env, type);
    if (compressed) return compressed;
  }
  const plain = await env.ASSETS.fetch(request);
  if (!isFound(plain)) return notFound();
  return type === undefined ? plain : withHeaders(plain, { vary: "accept-encoding" });
};

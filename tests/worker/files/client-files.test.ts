import { expect, test } from "vitest";
import { serveClientFile } from "#worker/service/client-files.ts";
import { serveDocument } from "#worker/service/documents.ts";

const caching = "public, max-age=31536000, immutable";
const script = "text/javascript; charset=utf-8";
const page = "<!doctype html>";
const files: Record<string, { type: string; body: string }> = {
  "/assets/app-1.js": { type: script, body: "the script" },
  "/assets/app-1.js.br": { type: "application/octet-stream", body: "the script, compressed" },
  "/assets/app-1.css": { type: "text/css; charset=utf-8", body: "the style" },
  "/assets/app-1.css.br": { type: "application/octet-stream", body: "the style, compressed" },
  "/assets/icon-1.svg": { type: "image/svg+xml", body: "<svg/>" },
  "/assets/new-1.js": { type: script, body: "a script without a twin" },
};

/** Static files as the platform serves them: the app's page is the answer for missing files. */
const ASSETS = {
  fetch: async (request: Request) => {
    const { pathname } = new URL(request.url);
    const { type, body } = files[pathname] ?? { type: "text/html; charset=utf-8", body: page };
    const etag = `"${body}"`;
    const headers = { "content-type": type, etag, "cache-control": caching, "x-content-type-options": "nosniff" };
    if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304, headers });
    return new Response(request.method === "HEAD" ? null : body, { headers });
  },
};

const ask = async (path: string, headers: Record<string, string> = {}, method = "GET") => {
  const request = new Request(`https://lisolo.test${path}`, { method, headers });
  const response = await serveClientFile(request, { ASSETS } as unknown as Env);
  return { status: response.status, body: await response.text(), headers: Object.fromEntries(response.headers) };
};
const brotli = { "accept-encoding": "gzip, deflate, br, zstd" };

test("a browser that accepts brotli gets the stored compressed file, with the file's type and caching", async () => {
  expect(await ask("/assets/app-1.js", brotli)).toEqual({
    status: 200,
    body: "the script, compressed",
    headers: {
      "content-type": script,
      "content-encoding": "br",
      vary: "accept-encoding",
      etag: '"the script, compressed"',
      "cache-control": `${caching}, no-transform`,
      "x-content-type-options": "nosniff",
    },
  });
  const style = await ask("/assets/app-1.css", brotli);
  expect(style).toMatchObject({
    body: "the style, compressed",
    headers: { "content-type": "text/css; charset=utf-8" },
  });
});

test.each<[string, Record<string, string>]>([
  ["takes no brotli", { "accept-encoding": "gzip, deflate" }],
  ["refuses brotli", { "accept-encoding": "gzip, br;q=0" }],
  ["says nothing", {}],
  ["wants a part", { ...brotli, range: "bytes=0-3" }],
])("a client that %s gets the plain file", async (_, headers) => {
  const answer = await ask("/assets/app-1.js", headers);
  expect(answer).toMatchObject({ status: 200, body: "the script", headers: { "cache-control": caching } });
  expect(answer.headers).not.toHaveProperty("content-encoding");
  expect(answer.headers["vary"]).toBe("accept-encoding");
});

test("unchanged files are not sent again, and the plain file's ETag does not match the compressed one", async () => {
  const compressed = { "if-none-match": '"the script, compressed"' };
  const unchanged = await ask("/assets/app-1.js", { ...brotli, ...compressed });
  expect(unchanged).toMatchObject({
    status: 304,
    body: "",
    headers: { vary: "accept-encoding", "content-type": script },
  });
  expect(await ask("/assets/app-1.js", { ...brotli, "if-none-match": '"the script"' })).toMatchObject({ status: 200 });
  expect(await ask("/assets/app-1.js", { "if-none-match": '"the script"' })).toMatchObject({ status: 304 });
  expect(await ask("/assets/app-1.js", compressed)).toMatchObject({ status: 200, body: "the script" });
});

test("a HEAD request has the headers of GET, without the body", async () => {
  for (const headers of [brotli, {}]) {
    const { body, ...responseHead } = await ask("/assets/app-1.js", headers);
    expect(await ask("/assets/app-1.js", headers, "HEAD")).toEqual({ ...responseHead, body: "" });
    expect(body).not.toBe("");
  }
});

test("a file without a compressed copy, or of another kind, is sent as it is", async () => {
  expect(await ask("/assets/new-1.js", brotli)).toMatchObject({ status: 200, body: "a script without a twin" });
  expect(await ask("/assets/icon-1.svg", brotli)).toMatchObject({ status: 200, body: "<svg/>" });
});

test("a missing file is a 404 instead of the app's page, and compressed copies have no URL", async () => {
  for (const path of ["/assets/gone-0.js", "/assets/gone-0.css", "/assets/", "/assets/app-1.js.br"]) {
    for (const headers of [brotli, {}]) {
      const answer = await ask(path, headers);
      expect(answer).toMatchObject({ status: 404, body: "", headers: { "cache-control": "no-store" } });
      expect(answer.headers).toHaveProperty("x-content-type-options", "nosniff");
      expect(answer.headers["content-security-policy"]).toMatch(/^default-src 'none'/);
    }
  }
});

test("a page requested by a method other than GET or HEAD is refused with the usual headers", async () => {
  const request = new Request("https://lisolo.test/login", { method: "POST" });
  const { status, headers } = await serveDocument(request, { ASSETS } as unknown as Env);
  expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
  expect(headers.get("strict-transport-security")).toMatch(/^max-age=/);
  expect(headers.get("x-content-type-options")).toBe("nosniff");
});

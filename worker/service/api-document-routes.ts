import { createHash } from "node:crypto";
import type { Hono } from "hono";
import { type AppContext, type AppEnv, createRoutes } from "#worker/lib/http/app.ts";
import { matchesEtag } from "#worker/lib/http/etag.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { generateApiDocument } from "./api-document.ts";
import { getDocumentationPolicy, renderDocumentation } from "./api-document-page.ts";

const cacheSeconds = 300; // then the browser asks whether a deployment changed it

type Rendered = { text: string; etag: string };

/** Computes a text once per isolate; a failure is tried again. */
const computeOnce = (render: () => Promise<string>): (() => Promise<Rendered>) => {
  let rendered: Promise<Rendered> | undefined;
  const compute = async (): Promise<Rendered> => {
    const text = await render();
    return { text, etag: `"${createHash("sha256").update(text).digest("base64url")}"` };
  };
  return () => {
    rendered ??= compute().catch((error: unknown) => {
      rendered = undefined;
      throw error;
    });
    return rendered;
  };
};

/** Answers with a text, or without it if the client has it. */
const respond = (c: AppContext, { text, etag }: Rendered, type: string) => {
  c.header("cache-control", `public, max-age=${cacheSeconds}`);
  c.header("etag", etag);
  if (matchesEtag(c.req.header("if-none-match"), etag)) return c.body(null, 304);
  c.header("content-type", type);
  return c.body(text, 200);
};

/** Routes of the API's own description, generated from the app's routes once per isolate. */
export const createApiDocumentRoutes = (getApp: () => Hono<AppEnv>) => {
  const readDocument = computeOnce(async () => JSON.stringify(await generateApiDocument(getApp())));
  const readPage = computeOnce(async () => String(await renderDocumentation(await generateApiDocument(getApp()))));
  return createRoutes()
    .get(
      "/openapi.json",
      describeOperation({
        tag: "service",
        summary: "This description, as OpenAPI 3.1",
        isPublic: true,
        ok: { status: 200, body: "application/json" },
      }),
      async (c) => respond(c, await readDocument(), "application/json"),
    )
    .get(
      "/docs",
      describeOperation({
        tag: "service",
        summary: "This description, as a page",
        isPublic: true,
        ok: { status: 200, body: "text/html" },
      }),
      async (c) => {
        c.header("content-security-policy", await getDocumentationPolicy());
        return respond(c, await readPage(), "text/html; charset=utf-8");
      },
    );
};

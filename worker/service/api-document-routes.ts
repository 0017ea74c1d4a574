import type { Hono } from "hono";
import { type AppEnv, createRoutes } from "#worker/lib/http/app.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { generateApiDocument } from "./api-document.ts";
import { getDocumentationPolicy, renderDocumentation } from "./api-document-page.ts";

/** Routes of the API's own description, generated from the app's routes once per isolate. */
export const createApiDocumentRoutes = (getApp: () => Hono<AppEnv>) => {
  let document: ReturnType<typeof generateApiDocument> | undefined;
  const getDocument = () => {
    document ??= generateApiDocument(getApp());
    return document;
  };
  return createRoutes()
    .get(
      "/openapi.json",
      describeOperation({
        tag: "service",
        summary: "This description, as OpenAPI 3.1",
        isPublic: true,
        ok: { status: 200, body: "application/json" },
      }),
      async (c) => {
        const body: object = await getDocument();
        return c.json(body, 200);
      },
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
        return c.html(renderDocumentation(await getDocument()), 200);
      },
    );
};

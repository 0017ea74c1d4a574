import type { Hono } from "hono";
import { type AppEnv, createRoutes } from "#worker/lib/http/app.ts";
import { operation } from "#worker/lib/http/openapi.ts";
import { describeApi } from "./api-document.ts";
import { documentationPage, documentationPolicy } from "./api-document-page.ts";

/** The API's own description, read off the routes of the app it is given, once per isolate. */
export const docsRoutes = (getApp: () => Hono<AppEnv>) => {
  let document: ReturnType<typeof describeApi> | undefined;
  const getDocument = () => {
    document ??= describeApi(getApp());
    return document;
  };
  return createRoutes()
    .get(
      "/openapi.json",
      operation({
        tag: "service",
        summary: "This description, as OpenAPI 3.1",
        open: true,
        ok: { status: 200, body: "application/json" },
      }),
      async (c) => {
        const body: object = await getDocument();
        return c.json(body, 200);
      },
    )
    .get(
      "/docs",
      operation({
        tag: "service",
        summary: "This description, to read",
        open: true,
        ok: { status: 200, body: "text/html" },
      }),
      async (c) => {
        c.header("content-security-policy", await documentationPolicy());
        return c.html(documentationPage(await getDocument()), 200);
      },
    );
};

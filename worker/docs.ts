import type { Hono } from "hono";
import { generateSpecs } from "hono-openapi";
import { type AppEnv, createRoutes } from "./lib/app";

const documentOf = (app: Hono<AppEnv>): Promise<object> =>
  generateSpecs(app, {
    documentation: {
      info: { title: "Lisolo", version: "1", description: "Messages for people in Congo and its diaspora" },
    },
    defaultValidationErrorResponse: false,
  });

/** The API's own description, read off the routes of the app it is given. */
export const docsRoutes = (getApp: () => Hono<AppEnv>) => {
  let document: Promise<object> | undefined;
  return createRoutes().get("/openapi.json", async (c) => {
    document ??= documentOf(getApp());
    return c.json(await document, 200);
  });
};

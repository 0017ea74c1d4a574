import type { Hono } from "hono";
import { generateSpecs, resolver } from "hono-openapi";
import { ApiError } from "../../contract/errors";
import type { AppEnv } from "../lib/app";
import { accessCookie } from "../lib/cookies";

/** The OpenAPI document of all routes of an app, made from the schemas that check them. */
export const describeApi = async (app: Hono<AppEnv>) => {
  const { schema } = await resolver(ApiError).toOpenAPISchema();
  return generateSpecs(app, {
    documentation: {
      info: {
        title: "Lisolo",
        version: "1",
        description:
          "Everything a client of Lisolo may ask over HTTP. Refusals carry a code; live changes come over the socket at /api/socket.",
      },
      security: [{ bearer: [] }, { cookie: [] }],
      components: {
        schemas: { ApiError: schema },
        securitySchemes: {
          bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
          cookie: { type: "apiKey", in: "cookie", name: accessCookie },
        },
      },
    },
    defaultValidationErrorResponse: false,
    // A path of its own, although it ends like a file.
    excludeStaticFile: false,
  });
};

export type ApiDocument = Awaited<ReturnType<typeof describeApi>>;

import type { Hono } from "hono";
import { generateSpecs, resolver } from "hono-openapi";
import { ApiError } from "#contract/errors.ts";
import type { AppEnv } from "#worker/lib/http/app.ts";
import { accessCookie } from "#worker/lib/http/cookies.ts";

/** Generates the OpenAPI document of an app's routes from their validation schemas. */
export const generateApiDocument = async (app: Hono<AppEnv>) => {
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
    // Keeps paths that end like a file name.
    excludeStaticFile: false,
  });
};

export type ApiDocument = Awaited<ReturnType<typeof generateApiDocument>>;

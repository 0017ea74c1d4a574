import { NumberLookup, NumberLookupResult } from "#contract/people.ts";
import { openDb } from "#worker/db/client.ts";
import { createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller } from "#worker/lib/limits/rate-limit.ts";
import { lookUpNumbers } from "./number-lookup.ts";

export const numberLookupRoutes = createRoutes().post(
  "/people/lookup",
  describeOperation({
    tag: "people",
    summary: "Who of at most 50 whole numbers can be found. Each different number counts as a search of the day",
    ok: { status: 200, body: NumberLookupResult },
    refusals: ["invalid_input", "forbidden_origin"],
  }),
  authenticate,
  // Not in the URL, which logs and proxies store.
  validate("json", NumberLookup),
  limitCaller("lookup_by_user"),
  async (c) => {
    const { phones } = c.req.valid("json");
    return c.json({ results: await lookUpNumbers(c.env, openDb(c.env), c.var.caller.user, phones) }, 200);
  },
);

import * as v from "valibot";
import { createRoutes } from "#worker/lib/http/app.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";

export const serviceRoutes = createRoutes().get(
  "/health",
  describeOperation({
    tag: "service",
    summary: "Whether the Worker responds",
    isPublic: true,
    ok: { status: 200, body: v.object({ ok: v.literal(true) }) },
  }),
  (c) => c.json({ ok: true as const }, 200),
);

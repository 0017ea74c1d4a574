import * as v from "valibot";
import { createRoutes } from "#worker/lib/http/app.ts";
import { operation } from "#worker/lib/http/openapi.ts";

export const serviceRoutes = createRoutes().get(
  "/health",
  operation({
    tag: "service",
    summary: "Whether the Worker answers",
    open: true,
    ok: { status: 200, body: v.object({ ok: v.literal(true) }) },
  }),
  (c) => c.json({ ok: true as const }, 200),
);

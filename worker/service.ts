import * as v from "valibot";
import { createRoutes } from "./lib/app";
import { operation } from "./lib/operation";

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

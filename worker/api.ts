import { Hono } from "hono";

export const api = new Hono<{ Bindings: Env }>()
  .get("/api/health", (c) => c.json({ ok: true }, 200))
  .get("*", (c) => c.env.ASSETS.fetch(c.req.raw));

export type Api = typeof api;

import { Hono } from "hono";

export const conversations = new Hono<{ Bindings: Env }>();

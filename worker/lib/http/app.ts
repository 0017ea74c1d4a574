import { type Context, Hono } from "hono";
import type { Uuid } from "#contract/ids.ts";
import { logError } from "#worker/lib/log.ts";

/** Who is asking: set by `authenticate`, absent on the routes that anybody may call. */
export type Caller = {
  user: Uuid;
  session: Uuid;
  /** The session's generation that the token was made for. */
  generation: number;
};

export type AppEnv = { Bindings: Env; Variables: { caller: Caller } };
export type AppContext = Context<AppEnv>;

/** A chain of routes of one feature; `worker/api.ts` composes them. */
export const createRoutes = () => new Hono<AppEnv>();

/** Work that goes on after the answer. What fails there is logged, never thrown into the runtime. */
export const runAfterResponse = (
  context: Pick<ExecutionContext, "waitUntil">,
  name: string,
  work: Promise<unknown>,
): void => context.waitUntil(work.catch((error: unknown) => logError(name, error)));

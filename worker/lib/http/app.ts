import { type Context, Hono } from "hono";
import type { Uuid } from "#contract/ids.ts";
import { logError } from "#worker/lib/log.ts";

/** Authenticated caller, set by `authenticate`; absent on public routes. */
export type Caller = {
  user: Uuid;
  session: Uuid;
  /** Session generation that the token was issued for. */
  generation: number;
};

export type AppEnv = { Bindings: Env; Variables: { caller: Caller } };
export type AppContext = Context<AppEnv>;

/** Route chain of one feature; `worker/api.ts` composes them. */
export const createRoutes = () => new Hono<AppEnv>();

/** Runs work after the response. Failures are logged and never reach the runtime. */
export const runAfterResponse = (
  context: Pick<ExecutionContext, "waitUntil">,
  name: string,
  work: Promise<unknown>,
): void => context.waitUntil(work.catch((error: unknown) => logError(name, error)));

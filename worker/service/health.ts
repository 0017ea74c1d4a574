import * as v from "valibot";
import { createRoutes } from "#worker/lib/http/app.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { logError } from "#worker/lib/log.ts";
import { waitAtMost } from "#worker/objects/shared/wait-at-most.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

const freshMs = 5_000; // a flood of requests causes one check in this time and isolate
const checkMaxMs = 2_000;
const probe = "health"; // name of an object that stores nothing, and of a file that does not exist

/** What every request depends on, each touched in the cheapest way. */
const parts: Readonly<Record<string, (env: Env) => Promise<unknown>>> = {
  directory: (env) => env.DB.prepare("SELECT 1").run(),
  files: (env) => env.FILES.head(probe),
  objects: (env) => getConversationStub(env, probe).canReadFile(probe, probe),
};

/** Names of the parts that fail or do not answer in time. */
const findDownParts = async (env: Env): Promise<string[]> => {
  const down = new Set(Object.keys(parts));
  await Promise.all(
    Object.entries(parts).map(async ([name, touch]) => {
      const answer = touch(env).then(
        () => void down.delete(name),
        (error: unknown) => logError(`the health check of the ${name} failed`, error),
      );
      await waitAtMost(checkMaxMs, answer);
    }),
  );
  return [...down];
};

/** Result of the last check of this isolate, and when it began. Requests during a check get the one before. */
let last: { at: number; down: readonly string[] } = { at: 0, down: [] };

const readHealth = async (env: Env, now = Date.now()): Promise<readonly string[]> => {
  if (Math.abs(now - last.at) < freshMs) return last.down;
  last = { ...last, at: now };
  const down = await findDownParts(env);
  last = { at: now, down };
  return down;
};

export const serviceRoutes = createRoutes().get(
  "/health",
  describeOperation({
    tag: "service",
    summary:
      "Whether the directory, the files and the objects respond, as of the last five seconds. The refusal lists in `down` those that do not",
    isPublic: true,
    ok: { status: 200, body: v.object({ ok: v.literal(true) }) },
  }),
  async (c) => {
    const down = await readHealth(c.env);
    if (down.length > 0) return refuse(c, "unavailable", { more: { down: down.join(", ") } });
    return c.json({ ok: true as const }, 200);
  },
);

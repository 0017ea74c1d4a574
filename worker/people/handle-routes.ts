import * as v from "valibot";
import { HandleChange, HandleSearch, OwnHandle } from "#contract/names/handles.ts";
import { isReservedHandle } from "#contract/names/protected-names.ts";
import { FoundPerson } from "#contract/people.ts";
import { openDb } from "#worker/db/client.ts";
import { createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller, returnToken, takeToken } from "#worker/lib/limits/rate-limit.ts";
import { changeHandle, findOwnHandle, removeHandle, searchByHandle } from "./handle-queries.ts";
import { findNumber } from "./numbers/queries.ts";

/** Names of the operator's list, which is absent in deployments configured before it existed. */
const listOperatorNames = (env: object): string[] => {
  const { RESERVED_HANDLES: names = "" } = env as { RESERVED_HANDLES?: string };
  return names.split(",");
};

export const handleRoutes = createRoutes()
  .get(
    "/handle",
    describeOperation({
      tag: "people",
      summary: "One's own handle, or null",
      ok: { status: 200, body: OwnHandle },
      refusals: [],
    }),
    authenticate,
    async (c) => c.json({ handle: await findOwnHandle(openDb(c.env), c.var.caller.user) }, 200),
  )
  .put(
    "/handle",
    describeOperation({
      tag: "people",
      summary:
        "Choose or change one's own handle, three times at once and then once in ten days. Handles that look alike belong to one person; the former one stays reserved for 30 days",
      ok: { status: 200, body: OwnHandle },
      refusals: [
        "invalid_input",
        "invalid_handle",
        "reserved_handle",
        "handle_taken",
        "handle_changes_used_up",
        "forbidden_origin",
      ],
    }),
    authenticate,
    validate("json", HandleChange),
    limitCaller("handle_by_user"),
    async (c) => {
      const me = c.var.caller.user;
      const { handle } = c.req.valid("json");
      const db = openDb(c.env);
      if ((await findOwnHandle(db, me)) === handle) return c.json({ handle }, 200);
      if (isReservedHandle(handle, listOperatorNames(c.env))) return refuse(c, "reserved_handle");
      const taken = await takeToken(db, me, "handle_change_by_user");
      if (!taken.ok) return refuse(c, "handle_changes_used_up", taken);
      if (!(await changeHandle(db, me, handle))) {
        await returnToken(db, me, "handle_change_by_user");
        return refuse(c, "handle_taken");
      }
      return c.json({ handle }, 200);
    },
  )
  .delete(
    "/handle",
    describeOperation({
      tag: "people",
      summary: "Remove one's own handle, which stays reserved for 30 days",
      ok: { status: 200, body: OwnHandle },
      refusals: ["handle_needed", "forbidden_origin"],
    }),
    authenticate,
    limitCaller("handle_by_user"),
    async (c) => {
      const db = openDb(c.env);
      const me = c.var.caller.user;
      if ((await findNumber(db, me))?.phone === "") return refuse(c, "handle_needed");
      await removeHandle(db, me);
      return c.json({ handle: null }, 200);
    },
  )
  .post(
    "/handles/search",
    describeOperation({
      tag: "people",
      summary: "The person with exactly this handle, never oneself nor anybody who blocks the caller. Without a number",
      ok: { status: 200, body: v.array(FoundPerson) },
      refusals: ["invalid_input", "invalid_handle", "forbidden_origin"],
    }),
    authenticate,
    // Not in the URL, which logs and proxies store.
    validate("json", HandleSearch),
    limitCaller("handle_search_by_user"),
    async (c) => c.json(await searchByHandle(openDb(c.env), c.var.caller.user, c.req.valid("json").handle), 200),
  );

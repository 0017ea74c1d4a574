import * as v from "valibot";
import { Seq } from "#contract/conversations.ts";
import { gapPageRows, messagePageRows, searchQueryMaxLength } from "#contract/limits.ts";
import { Presence } from "#contract/settings.ts";
import { ChangesResult, ListPage, MuteList, PageResult, RevisedResult, SearchResult } from "#contract/wire/commands.ts";
import { createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { operation } from "#worker/lib/http/openapi.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { carry, strangers } from "#worker/objects/http-commands.ts";
import { userChannelOf } from "#worker/objects/stubs.ts";
import { digits, Named, newest, Place } from "./parameters.ts";

const ListQuery = v.object({ before: v.optional(Place) });
const PageQuery = v.pipe(
  v.object({
    before: v.optional(Place),
    after: v.optional(Place),
    held: v.optional(v.pipe(digits, Seq)),
    limit: v.optional(v.pipe(digits, v.integer(), v.minValue(1), v.maxValue(gapPageRows))),
  }),
  v.check(({ before, after }) => before === undefined || after === undefined, "one of before and after"),
);
const SearchQuery = v.object({
  query: v.pipe(v.string(), v.minLength(1), v.maxLength(searchQueryMaxLength)),
  before: v.optional(Seq),
});
const RevisedQuery = v.object({ since: Place });
const SyncQuery = v.object({ since: Place, before: v.optional(Place) });

/** What is read by HTTP, for when there is no socket and for API clients: each is the command its frame would be. */
export const conversations = createRoutes()
  .get(
    "/conversations",
    operation({
      tag: "conversations",
      summary: "Conversations with something to see, those that changed last first",
      ok: { status: 200, body: ListPage },
      refusals: ["invalid_input"],
    }),
    authenticate,
    validate("query", ListQuery),
    async (c) => {
      const { user } = c.var.caller;
      return c.json(await userChannelOf(c.env, user).list(user, c.req.valid("query").before), 200);
    },
  )
  .get(
    "/conversations/:id/messages",
    operation({
      tag: "conversations",
      summary: "A page of messages: `before` a place in descending order, `after` one in ascending order",
      ok: { status: 200, body: PageResult },
      refusals: strangers,
    }),
    authenticate,
    validate("param", Named),
    validate("query", PageQuery),
    (c) => {
      const { before, after, held, limit = messagePageRows } = c.req.valid("query");
      const place =
        after === undefined
          ? ({ direction: "before", seq: before ?? newest } as const)
          : ({ direction: "after", seq: after } as const);
      const page = { type: "page", conversation: c.req.valid("param").id, ...place, limit } as const;
      return carry<"page">(c, held === undefined ? page : { ...page, held });
    },
  )
  .post(
    "/conversations/:id/search",
    operation({
      tag: "conversations",
      summary: "Messages that contain a text, whatever the case and the accents, newest first",
      ok: { status: 200, body: SearchResult },
      refusals: [...strangers, "forbidden_origin"],
    }),
    authenticate,
    validate("param", Named),
    validate("json", SearchQuery),
    (c) => {
      const { query, before = newest } = c.req.valid("json");
      return carry<"search">(c, { type: "search", conversation: c.req.valid("param").id, query, before });
    },
  )
  .get(
    "/conversations/:id/revisions",
    operation({
      tag: "conversations",
      summary: "Messages that were changed after a revision, as they are now",
      ok: { status: 200, body: RevisedResult },
      refusals: strangers,
    }),
    authenticate,
    validate("param", Named),
    validate("query", RevisedQuery),
    (c) =>
      carry<"revised">(c, {
        type: "revised",
        conversation: c.req.valid("param").id,
        since: c.req.valid("query").since,
      }),
  )
  .get(
    "/conversations/:id/presence",
    operation({
      tag: "conversations",
      summary:
        "Whether the other of a private conversation is here, or when they last were, as far as both let it be seen",
      ok: { status: 200, body: Presence },
      refusals: strangers,
    }),
    authenticate,
    validate("param", Named),
    (c) => carry<"presence">(c, { type: "presence", conversation: c.req.valid("param").id }),
  )
  .get(
    "/mutes",
    operation({
      tag: "conversations",
      summary: "The conversations one has muted",
      ok: { status: 200, body: MuteList },
    }),
    authenticate,
    async (c) => {
      const { user } = c.var.caller;
      return c.json({ muted: await userChannelOf(c.env, user).mutes(user) }, 200);
    },
  )
  .get(
    "/sync",
    operation({
      tag: "conversations",
      summary: "What changed for one after a cursor, newest first",
      ok: { status: 200, body: ChangesResult },
      refusals: ["invalid_input", "unavailable"],
    }),
    authenticate,
    validate("query", SyncQuery),
    (c) => {
      const { since, before } = c.req.valid("query");
      return carry<"changes">(c, { type: "changes", since, ...(before === undefined ? {} : { before }) });
    },
  );

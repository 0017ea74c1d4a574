import * as v from "valibot";
import {
  ChangesResult,
  Hidden,
  isRefusal,
  ListPage,
  PageResult,
  type Refusal,
  SearchResult,
  Send,
  SendResult,
  Unread,
} from "../../contract/commands";
import { Mark, Marks, Seq } from "../../contract/conversations";
import type { ErrorCode } from "../../contract/errors";
import { ConversationId } from "../../contract/ids";
import { gapPageRows, messagePageRows, searchQueryMaxLength } from "../../contract/limits";
import { type AppContext, createRoutes } from "../lib/app";
import { authenticate } from "../lib/authenticate";
import { operation } from "../lib/operation";
import { refuse } from "../lib/refusal";
import { validate } from "../lib/validate";
import { userChannelOf } from "../objects/stubs";

/** A number as a query carries it. */
const digits = v.pipe(v.string(), v.maxLength(16), v.digits(), v.transform(Number));
const Place = v.pipe(digits, Mark);
const newest = Number.MAX_SAFE_INTEGER;

const Named = v.object({ id: ConversationId });
const ListQuery = v.object({ before: v.optional(Place) });
const PageQuery = v.pipe(
  v.object({
    before: v.optional(Place),
    after: v.optional(Place),
    limit: v.optional(v.pipe(digits, v.integer(), v.minValue(1), v.maxValue(gapPageRows))),
  }),
  v.check(({ before, after }) => before === undefined || after === undefined, "one of before and after"),
);
const SearchQuery = v.object({
  query: v.pipe(v.string(), v.minLength(1), v.maxLength(searchQueryMaxLength)),
  before: v.optional(v.pipe(digits, Seq)),
});
const SyncQuery = v.object({ since: Place, before: v.optional(Place) });
const SendBody = v.strictObject({ messages: Send.entries.messages });
const MarksBody = v.strictObject(Marks.entries);

const strangers: readonly ErrorCode[] = ["invalid_input", "conversation_not_found", "unavailable"];

const answerRefusal = (c: AppContext, { error, retryAfterMs }: Refusal) =>
  refuse(c, error, retryAfterMs === undefined ? {} : { retryAfterMs });

/** Commands by HTTP, for when there is no socket and for API clients: each is the command its frame would be. */
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
    async (c) => {
      const { user } = c.var.caller;
      const { before, after, limit = messagePageRows } = c.req.valid("query");
      const place =
        after === undefined
          ? ({ direction: "before", seq: before ?? newest } as const)
          : ({ direction: "after", seq: after } as const);
      const conversation = c.req.valid("param").id;
      const page = await userChannelOf(c.env, user).execute<"page">(user, {
        type: "page",
        conversation,
        ...place,
        limit,
      });
      return isRefusal(page) ? answerRefusal(c, page) : c.json(page, 200);
    },
  )
  .get(
    "/conversations/:id/search",
    operation({
      tag: "conversations",
      summary: "Messages that contain a text, whatever the case and the accents, newest first",
      ok: { status: 200, body: SearchResult },
      refusals: strangers,
    }),
    authenticate,
    validate("param", Named),
    validate("query", SearchQuery),
    async (c) => {
      const { user } = c.var.caller;
      const { query, before = newest } = c.req.valid("query");
      const conversation = c.req.valid("param").id;
      const command = { type: "search", conversation, query, before } as const;
      const found = await userChannelOf(c.env, user).execute<"search">(user, command);
      return isRefusal(found) ? answerRefusal(c, found) : c.json(found, 200);
    },
  )
  .post(
    "/conversations/:id/messages",
    operation({
      tag: "conversations",
      summary: "Send messages, in order. One that was sent before, by its client id, keeps its first place and body",
      ok: { status: 200, body: SendResult },
      refusals: [
        ...strangers,
        "not_connected",
        "empty_message",
        "message_too_long",
        "invalid_text",
        "forbidden_origin",
      ],
    }),
    authenticate,
    validate("param", Named),
    validate("json", SendBody),
    async (c) => {
      const { user } = c.var.caller;
      const conversation = c.req.valid("param").id;
      const command = { type: "send", conversation, messages: c.req.valid("json").messages } as const;
      const sent = await userChannelOf(c.env, user).execute<"send">(user, command);
      return isRefusal(sent) ? answerRefusal(c, sent) : c.json(sent, 200);
    },
  )
  .put(
    "/conversations/:id/marks",
    operation({
      tag: "conversations",
      summary: "How far one has received and read. Marks never go back",
      ok: { status: 200, body: Unread },
      refusals: [...strangers, "forbidden_origin"],
    }),
    authenticate,
    validate("param", Named),
    validate("json", MarksBody),
    async (c) => {
      const { user } = c.var.caller;
      const command = { type: "mark", conversation: c.req.valid("param").id, ...c.req.valid("json") } as const;
      const marked = await userChannelOf(c.env, user).execute<"mark">(user, command);
      return isRefusal(marked) ? answerRefusal(c, marked) : c.json(marked, 200);
    },
  )
  .delete(
    "/conversations/:id",
    operation({
      tag: "conversations",
      summary: "Remove a conversation's messages so far from one's own view",
      ok: { status: 200, body: Hidden },
      refusals: [...strangers, "forbidden_origin"],
    }),
    authenticate,
    validate("param", Named),
    async (c) => {
      const { user } = c.var.caller;
      const command = { type: "hide", conversation: c.req.valid("param").id } as const;
      const hidden = await userChannelOf(c.env, user).execute<"hide">(user, command);
      return isRefusal(hidden) ? answerRefusal(c, hidden) : c.json(hidden, 200);
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
    async (c) => {
      const { user } = c.var.caller;
      const { since, before } = c.req.valid("query");
      const command = { type: "changes", since, ...(before === undefined ? {} : { before }) } as const;
      const changes = await userChannelOf(c.env, user).execute<"changes">(user, command);
      return isRefusal(changes) ? answerRefusal(c, changes) : c.json(changes, 200);
    },
  );

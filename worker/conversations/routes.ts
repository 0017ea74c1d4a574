import * as v from "valibot";
import { gapPageRows, messagePageRows } from "#contract/limits/conversations.ts";
import { Seq } from "#contract/messages/positions.ts";
import { DraftList } from "#contract/settings/drafts.ts";
import { MessageFlags } from "#contract/settings/message-flags.ts";
import { Presence } from "#contract/settings/settings.ts";
import { Emoji, SearchFields } from "#contract/wire/command-schemas.ts";
import {
  ChangesResult,
  isRefusal,
  ListPage,
  MuteList,
  PageResult,
  ReactorPage,
  RevisedResult,
  SearchResult,
} from "#contract/wire/commands.ts";
import { GlobalSearch, GlobalSearchResult } from "#contract/wire/global-search.ts";
import { MessageInfo, PrivateConversationId } from "#contract/wire/message-info.ts";
import { isSearchable } from "#contract/wire/search-filter.ts";
import { createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { nonMemberErrors, respondWithCommand, respondWithRefusal } from "#worker/objects/http-commands.ts";
import { withRetry } from "#worker/objects/shared/retry.ts";
import { getConversationStub, getUserChannelStub } from "#worker/objects/stubs.ts";
import { beyondNewestSeq, ConversationIdParam, MessageParams, NumberText, SeqParam } from "./parameters.ts";

const ListQuery = v.object({ before: v.optional(SeqParam) });
const PageQuery = v.pipe(
  v.object({
    before: v.optional(SeqParam),
    after: v.optional(SeqParam),
    limit: v.optional(v.pipe(NumberText, v.integer(), v.minValue(1), v.maxValue(gapPageRows))),
  }),
  v.check(({ before, after }) => before === undefined || after === undefined, "one of before and after"),
);
const SearchQuery = v.pipe(
  v.object({ ...SearchFields, before: v.optional(Seq) }),
  v.check((search) => isSearchable(search), "a text or a filter"),
);
const ReactorQuery = v.object({ emoji: v.optional(Emoji), before: v.optional(SeqParam) });
const PrivateMessageParams = v.object({ ...MessageParams.entries, id: PrivateConversationId });
const RevisedQuery = v.object({ since: SeqParam });
const DraftQuery = v.object({ since: SeqParam });
const SyncQuery = v.object({ since: SeqParam, before: v.optional(SeqParam) });

/**
 * HTTP routes that read conversations, for devices whose socket does not open and for API clients. They return the same
 * results as the corresponding WebSocket frames.
 */
export const conversationRoutes = createRoutes()
  .get(
    "/conversations",
    describeOperation({
      tag: "conversations",
      id: "get_recent_conversations",
      summary: "Conversations with visible messages, most recently changed first",
      ok: { status: 200, body: ListPage },
      refusals: ["invalid_input"],
    }),
    authenticate,
    validate("query", ListQuery),
    async (c) => {
      const { user } = c.var.caller;
      return c.json(await getUserChannelStub(c.env, user).listConversations(c.req.valid("query").before), 200);
    },
  )
  .get(
    "/conversations/:id/messages",
    describeOperation({
      tag: "conversations",
      summary: "A page of messages: `before` a position in descending order, or `after` one in ascending order",
      ok: { status: 200, body: PageResult },
      refusals: nonMemberErrors,
    }),
    authenticate,
    validate("param", ConversationIdParam),
    validate("query", PageQuery),
    (c) => {
      const { before, after, limit = messagePageRows } = c.req.valid("query");
      const position =
        after === undefined
          ? ({ direction: "before", seq: before ?? beyondNewestSeq } as const)
          : ({ direction: "after", seq: after } as const);
      return respondWithCommand<"page">(c, {
        type: "page",
        conversation: c.req.valid("param").id,
        ...position,
        limit,
      });
    },
  )
  .post(
    "/conversations/:id/search",
    describeOperation({
      tag: "conversations",
      summary:
        "Messages of which each word of a text begins a word, ignoring case and accents, and that pass a filter, newest first",
      ok: { status: 200, body: SearchResult },
      refusals: [...nonMemberErrors, "forbidden_origin"],
    }),
    authenticate,
    validate("param", ConversationIdParam),
    validate("json", SearchQuery),
    (c) => {
      const { query, filter, before = beyondNewestSeq } = c.req.valid("json");
      const search = { type: "search", conversation: c.req.valid("param").id, query, before } as const;
      return respondWithCommand<"search">(c, filter === undefined ? search : { ...search, filter });
    },
  )
  .post(
    "/search",
    describeOperation({
      tag: "conversations",
      summary: "The same in several conversations: the newest messages of each, and where to continue",
      ok: { status: 200, body: GlobalSearchResult },
      refusals: ["invalid_input", "forbidden_origin"],
    }),
    authenticate,
    validate("json", GlobalSearch),
    async (c) => {
      const { user } = c.var.caller;
      const search = c.req.valid("json");
      const found = await withRetry(() => getUserChannelStub(c.env, user).searchConversations(search));
      return isRefusal(found) ? respondWithRefusal(c, found) : c.json(found, 200);
    },
  )
  .get(
    "/conversations/:id/revisions",
    describeOperation({
      tag: "conversations",
      summary: "Messages changed after a revision, in their current form",
      ok: { status: 200, body: RevisedResult },
      refusals: nonMemberErrors,
    }),
    authenticate,
    validate("param", ConversationIdParam),
    validate("query", RevisedQuery),
    (c) =>
      respondWithCommand<"revised">(c, {
        type: "revised",
        conversation: c.req.valid("param").id,
        since: c.req.valid("query").since,
      }),
  )
  .get(
    "/conversations/:id/messages/:seq/reactions",
    describeOperation({
      tag: "conversations",
      summary: "Members who reacted to a message, the newest reaction first, with any emoji or with one",
      ok: { status: 200, body: ReactorPage },
      refusals: [...nonMemberErrors, "message_not_found", "not_allowed"],
    }),
    authenticate,
    validate("param", MessageParams),
    validate("query", ReactorQuery),
    async (c) => {
      const { user } = c.var.caller;
      const { id, seq } = c.req.valid("param");
      // An unknown conversation is not called at all: its response time would reveal whether it exists.
      const isKnown = await withRetry(() => getUserChannelStub(c.env, user).hasConversation(id));
      if (!isKnown) return respondWithRefusal(c, { error: "conversation_not_found" });
      const { emoji, before } = c.req.valid("query");
      const page = await withRetry(() => getConversationStub(c.env, id).listReactors(user, seq, { emoji, before }));
      return isRefusal(page) ? respondWithRefusal(c, page) : c.json(page, 200);
    },
  )
  .get(
    "/conversations/:id/messages/:seq/info",
    describeOperation({
      tag: "conversations",
      summary: "Times at which one's own message in a private conversation was delivered and read",
      ok: { status: 200, body: MessageInfo },
      refusals: [...nonMemberErrors, "message_not_found", "not_your_message"],
    }),
    authenticate,
    validate("param", PrivateMessageParams),
    async (c) => {
      const { user } = c.var.caller;
      const { id, seq } = c.req.valid("param");
      const channel = getUserChannelStub(c.env, user);
      const isKnown = await withRetry(() => channel.hasConversation(id));
      if (!isKnown) return respondWithRefusal(c, { error: "conversation_not_found" });
      const seenUpTo = await withRetry(() => channel.getVisibleReadUpTo(id));
      const info = await withRetry(() => getConversationStub(c.env, id).getMessageInfo(user, seq, seq <= seenUpTo));
      return isRefusal(info) ? respondWithRefusal(c, info) : c.json(info, 200);
    },
  )
  .get(
    "/conversations/:id/message-flags",
    describeOperation({
      tag: "conversations",
      summary: "Messages of a conversation that one has starred or deleted for oneself",
      ok: { status: 200, body: MessageFlags },
      refusals: nonMemberErrors,
    }),
    authenticate,
    validate("param", ConversationIdParam),
    async (c) => {
      const stub = getUserChannelStub(c.env, c.var.caller.user);
      const flags = await withRetry(() => stub.listMessageFlags(c.req.valid("param").id));
      return flags ? c.json(flags, 200) : respondWithRefusal(c, { error: "conversation_not_found" });
    },
  )
  .get(
    "/drafts",
    describeOperation({
      tag: "conversations",
      summary: "Drafts that one's devices share, changed after a change; after 0 all that are not empty",
      ok: { status: 200, body: DraftList },
      refusals: ["invalid_input"],
    }),
    authenticate,
    validate("query", DraftQuery),
    async (c) => {
      const stub = getUserChannelStub(c.env, c.var.caller.user);
      return c.json(await withRetry(() => stub.listDrafts(c.req.valid("query").since)), 200);
    },
  )
  .get(
    "/conversations/:id/presence",
    describeOperation({
      tag: "conversations",
      summary: "Presence of the other person of a private conversation, as far as both share it",
      ok: { status: 200, body: Presence },
      refusals: nonMemberErrors,
    }),
    authenticate,
    validate("param", ConversationIdParam),
    (c) => respondWithCommand<"presence">(c, { type: "presence", conversation: c.req.valid("param").id }),
  )
  .get(
    "/mutes",
    describeOperation({
      tag: "conversations",
      summary: "Muted conversations",
      ok: { status: 200, body: MuteList },
    }),
    authenticate,
    async (c) => {
      const { user } = c.var.caller;
      return c.json({ muted: await getUserChannelStub(c.env, user).listMutes() }, 200);
    },
  )
  .get(
    "/sync",
    describeOperation({
      tag: "conversations",
      summary: "Changes after a cursor, newest first",
      ok: { status: 200, body: ChangesResult },
      refusals: ["invalid_input", "unavailable"],
    }),
    authenticate,
    validate("query", SyncQuery),
    (c) => {
      const { since, before } = c.req.valid("query");
      return respondWithCommand<"changes">(c, { type: "changes", since, ...(before === undefined ? {} : { before }) });
    },
  );

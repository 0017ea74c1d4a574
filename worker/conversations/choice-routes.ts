import * as v from "valibot";
import type { ConversationId } from "#contract/ids.ts";
import { DraftFields, FlagFields, MessageFlagFields, MuteSeconds } from "#contract/wire/command-schemas.ts";
import { DraftResult, FlagsResult, MessageFlagsResult, MuteResult } from "#contract/wire/commands.ts";
import { type AppContext, createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { nonMemberErrors, respondWithCommand } from "#worker/objects/http-commands.ts";
import { ConversationIdParam, MessageParams, NumberText } from "./parameters.ts";

const MuteQuery = v.object({
  seconds: v.optional(v.pipe(NumberText, MuteSeconds)),
  except: v.optional(v.literal("mentions")),
});

const runMuteCommand = (
  c: AppContext,
  conversation: ConversationId,
  muted: boolean,
  { seconds, except }: v.InferOutput<typeof MuteQuery> = {},
) =>
  respondWithCommand<"mute">(c, {
    type: "mute",
    conversation,
    muted,
    ...(seconds === undefined ? {} : { seconds }),
    ...(except === undefined ? {} : { exceptMentions: true }),
  });

/** Write routes of a person's own choices: flags, drafts and mutes. Each runs the command of its frame. */
export const conversationChoiceRoutes = createRoutes()
  .patch(
    "/conversations/:id/flags",
    describeOperation({
      tag: "conversations",
      summary:
        "Mark a conversation as unread, archive or pin it, or undo that, for oneself; absent flags stay as they are",
      ok: { status: 200, body: FlagsResult },
      refusals: [...nonMemberErrors, "too_many_pinned", "forbidden_origin"],
    }),
    authenticate,
    validate("param", ConversationIdParam),
    validate("json", FlagFields),
    (c) =>
      respondWithCommand<"setConversationFlags">(c, {
        type: "setConversationFlags",
        conversation: c.req.valid("param").id,
        ...c.req.valid("json"),
      }),
  )
  .patch(
    "/conversations/:id/messages/:seq/flags",
    describeOperation({
      tag: "conversations",
      summary: "Star a message, or delete it for oneself only; absent flags stay as they are",
      ok: { status: 200, body: MessageFlagsResult },
      refusals: [...nonMemberErrors, "message_not_found", "too_many_starred", "too_many_deleted", "forbidden_origin"],
    }),
    authenticate,
    validate("param", MessageParams),
    validate("json", MessageFlagFields),
    (c) => {
      const { id: conversation, seq } = c.req.valid("param");
      return respondWithCommand<"setMessageFlags">(c, {
        type: "setMessageFlags",
        conversation,
        seq,
        ...c.req.valid("json"),
      });
    },
  )
  .put(
    "/conversations/:id/draft",
    describeOperation({
      tag: "conversations",
      summary: "Share the draft of a conversation with one's other devices; an empty text ends it",
      ok: { status: 200, body: DraftResult },
      refusals: [...nonMemberErrors, "forbidden_origin"],
    }),
    authenticate,
    validate("param", ConversationIdParam),
    validate("json", DraftFields),
    (c) =>
      respondWithCommand<"setDraft">(c, {
        type: "setDraft",
        conversation: c.req.valid("param").id,
        ...c.req.valid("json"),
      }),
  )
  .put(
    "/mutes/:id",
    describeOperation({
      tag: "conversations",
      summary:
        "Mute a conversation, without an end or for this many seconds; in a group, mentions can be excepted and notify",
      ok: { status: 200, body: MuteResult },
      refusals: [...nonMemberErrors, "forbidden_origin"],
    }),
    authenticate,
    validate("param", ConversationIdParam),
    validate("query", MuteQuery),
    (c) => runMuteCommand(c, c.req.valid("param").id, true, c.req.valid("query")),
  )
  .delete(
    "/mutes/:id",
    describeOperation({
      tag: "conversations",
      summary: "Unmute a conversation",
      ok: { status: 200, body: MuteResult },
      refusals: [...nonMemberErrors, "forbidden_origin"],
    }),
    authenticate,
    validate("param", ConversationIdParam),
    (c) => runMuteCommand(c, c.req.valid("param").id, false),
  );

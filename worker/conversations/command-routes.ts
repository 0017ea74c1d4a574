import * as v from "valibot";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { ReadState, Seq, Watermark } from "#contract/messages/positions.ts";
import { EditFields, Emoji, MulticastBody, PinFields, SendCommand } from "#contract/wire/command-schemas.ts";
import {
  ClearHistoryResult,
  type CommandOf,
  DeleteForEveryoneResult,
  DeletePendingResult,
  EditMessageResult,
  MulticastResult,
  PinMessageResult,
  ReactResult,
  SendResult,
  UnreadResult,
} from "#contract/wire/commands.ts";
import { createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { nonMemberErrors, respondWithCommand } from "#worker/objects/http-commands.ts";
import {
  beyondNewestSeq,
  ConversationIdParam,
  MessageParams,
  messageBodyRefusals,
  messageTextRefusals,
  NumberText,
  SeqParam,
} from "./parameters.ts";

const SendBody = v.strictObject({ messages: SendCommand.entries.messages });
const ReceiptsBody = v.strictObject(ReadState.entries);
const ClearBody = v.strictObject({ upTo: Watermark });
const DeleteConversationQuery = v.object({ upTo: v.optional(SeqParam) });
const EditBody = v.strictObject(EditFields);
const EditedMessageParams = v.object({ id: ConversationId, target: v.union([Uuid, v.pipe(NumberText, Seq)]) });
const ReactBody = v.strictObject({ emoji: v.nullable(Emoji) });
const ClientMessageParams = v.object({ id: ConversationId, cid: Uuid });

const toClearHistoryCommand = (
  conversation: ConversationId,
  upTo: number,
  keepListed: boolean,
): CommandOf<"clearHistory"> => ({
  type: "clearHistory",
  conversation,
  upTo,
  keep: keepListed,
});

/** Write routes of conversations, for clients without a socket and API clients. Each runs the command of its frame. */
export const conversationCommandRoutes = createRoutes()
  .post(
    "/messages",
    describeOperation({
      tag: "conversations",
      summary: "Send one message to many conversations. Refused conversations return their reason; the others are sent",
      ok: { status: 200, body: MulticastResult },
      refusals: ["invalid_input", "unavailable", ...messageBodyRefusals, "forbidden_origin"],
    }),
    authenticate,
    validate("json", MulticastBody),
    (c) => respondWithCommand<"multicast">(c, { type: "multicast", ...c.req.valid("json") }),
  )
  .post(
    "/conversations/:id/messages",
    describeOperation({
      tag: "conversations",
      summary: "Send messages in order. Idempotent by client id: a repeated message keeps its first position and body",
      ok: { status: 200, body: SendResult },
      refusals: [
        ...nonMemberErrors,
        "not_connected",
        "contact_blocked",
        "message_withdrawn",
        "conversation_full",
        "conversation_limited",
        "cannot_mention_everyone",
        "everyone_mentioned_recently",
        ...messageBodyRefusals,
        "forbidden_origin",
      ],
    }),
    authenticate,
    validate("param", ConversationIdParam),
    validate("json", SendBody),
    (c) =>
      respondWithCommand<"send">(c, {
        type: "send",
        conversation: c.req.valid("param").id,
        messages: c.req.valid("json").messages,
      }),
  )
  .delete(
    "/conversations/:id/messages/:seq",
    describeOperation({
      tag: "conversations",
      summary: "Delete one's own message for everybody, or as the owner of a group any; a tombstone remains",
      ok: { status: 200, body: DeleteForEveryoneResult },
      refusals: [...nonMemberErrors, "message_not_found", "not_your_message", "forbidden_origin"],
    }),
    authenticate,
    validate("param", MessageParams),
    (c) => {
      const { id: conversation, seq } = c.req.valid("param");
      return respondWithCommand<"deleteForEveryone">(c, { type: "deleteForEveryone", conversation, seq });
    },
  )
  .patch(
    "/conversations/:id/messages/:target",
    describeOperation({
      tag: "conversations",
      summary:
        "Edit one's own text or caption within 24 hours, named by its position or client id; `edit` is the number of edits known",
      ok: { status: 200, body: EditMessageResult },
      refusals: [
        ...nonMemberErrors,
        "message_not_found",
        "not_your_message",
        "message_withdrawn",
        "edit_too_late",
        "not_connected",
        "contact_blocked",
        "conversation_full",
        "conversation_limited",
        ...messageTextRefusals,
        "forbidden_origin",
      ],
    }),
    authenticate,
    validate("param", EditedMessageParams),
    validate("json", EditBody),
    (c) => {
      const { id: conversation, target } = c.req.valid("param");
      return respondWithCommand<"editMessage">(c, {
        type: "editMessage",
        conversation,
        target,
        ...c.req.valid("json"),
      });
    },
  )
  .put(
    "/conversations/:id/withdrawals/:cid",
    describeOperation({
      tag: "conversations",
      summary:
        "Delete one's own message for everybody by its client id; a message that has not arrived is refused when it does",
      ok: { status: 200, body: DeletePendingResult },
      refusals: [...nonMemberErrors, "message_not_found", "not_your_message", "forbidden_origin"],
    }),
    authenticate,
    validate("param", ClientMessageParams),
    (c) => {
      const { id: conversation, cid } = c.req.valid("param");
      return respondWithCommand<"deletePending">(c, { type: "deletePending", conversation, cid });
    },
  )
  .put(
    "/conversations/:id/messages/:seq/reaction",
    describeOperation({
      tag: "conversations",
      summary: "React to a message with one emoji, which replaces an earlier reaction; null removes it",
      ok: { status: 200, body: ReactResult },
      refusals: [
        ...nonMemberErrors,
        "message_not_found",
        "not_allowed",
        "not_connected",
        "contact_blocked",
        "conversation_full",
        "too_many_reactions",
        "forbidden_origin",
      ],
    }),
    authenticate,
    validate("param", MessageParams),
    validate("json", ReactBody),
    (c) => {
      const { id: conversation, seq } = c.req.valid("param");
      return respondWithCommand<"react">(c, { type: "react", conversation, seq, emoji: c.req.valid("json").emoji });
    },
  )
  .put(
    "/conversations/:id/messages/:seq/pin",
    describeOperation({
      tag: "conversations",
      summary: "Pin a message for all members, or unpin it; in a group only as its owner. At most three are pinned",
      ok: { status: 200, body: PinMessageResult },
      refusals: [
        ...nonMemberErrors,
        "message_not_found",
        "not_allowed",
        "not_connected",
        "contact_blocked",
        "conversation_full",
        "too_many_pinned_messages",
        "forbidden_origin",
      ],
    }),
    authenticate,
    validate("param", MessageParams),
    validate("json", PinFields),
    (c) => {
      const { id: conversation, seq } = c.req.valid("param");
      return respondWithCommand<"pinMessage">(c, { type: "pinMessage", conversation, seq, ...c.req.valid("json") });
    },
  )
  .put(
    "/conversations/:id/marks",
    describeOperation({
      tag: "conversations",
      summary: "Receipts: how far one has received and read. They never go back",
      ok: { status: 200, body: UnreadResult },
      refusals: [...nonMemberErrors, "forbidden_origin"],
    }),
    authenticate,
    validate("param", ConversationIdParam),
    validate("json", ReceiptsBody),
    (c) =>
      respondWithCommand<"mark">(c, { type: "mark", conversation: c.req.valid("param").id, ...c.req.valid("json") }),
  )
  .post(
    "/conversations/:id/clear",
    describeOperation({
      tag: "conversations",
      summary: "Remove messages up to a position from one's own view; the conversation stays in the list",
      ok: { status: 200, body: ClearHistoryResult },
      refusals: [...nonMemberErrors, "forbidden_origin"],
    }),
    authenticate,
    validate("param", ConversationIdParam),
    validate("json", ClearBody),
    (c) =>
      respondWithCommand<"clearHistory">(
        c,
        toClearHistoryCommand(c.req.valid("param").id, c.req.valid("json").upTo, true),
      ),
  )
  .delete(
    "/conversations/:id",
    describeOperation({
      tag: "conversations",
      id: "delete-conversation",
      summary: "Remove messages up to a position, or all, from one's own view, and the conversation from the list",
      ok: { status: 200, body: ClearHistoryResult },
      refusals: [...nonMemberErrors, "forbidden_origin"],
    }),
    authenticate,
    validate("param", ConversationIdParam),
    validate("query", DeleteConversationQuery),
    (c) =>
      respondWithCommand<"clearHistory">(
        c,
        toClearHistoryCommand(c.req.valid("param").id, c.req.valid("query").upTo ?? beyondNewestSeq, false),
      ),
  );

import * as v from "valibot";
import { Mark, Marks, Seq } from "#contract/conversations.ts";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { Send, SpreadBody } from "#contract/wire/command-schemas.ts";
import {
  type CommandOf,
  Hidden,
  Muted,
  Retracted,
  SendResult,
  SpreadResult,
  Unread,
  Withdrawn,
} from "#contract/wire/commands.ts";
import { type AppContext, createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { operation } from "#worker/lib/http/openapi.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { carry, strangers } from "#worker/objects/http-commands.ts";
import { digits, Named, newest, Place, unfit } from "./parameters.ts";

const SendBody = v.strictObject({ messages: Send.entries.messages });
const MarksBody = v.strictObject(Marks.entries);
const ClearBody = v.strictObject({ upTo: Mark });
const HideQuery = v.object({ upTo: v.optional(Place) });
const NamedMessage = v.object({ id: ConversationId, seq: v.pipe(digits, Seq) });

const NamedByClient = v.object({ id: ConversationId, cid: Uuid });

const hiding = (conversation: ConversationId, upTo: number, keep: boolean): CommandOf<"hide"> => ({
  type: "hide",
  conversation,
  upTo,
  keep,
});
const mute = (c: AppContext, conversation: ConversationId, muted: boolean) =>
  carry<"mute">(c, { type: "mute", conversation, muted });

/** What is changed by HTTP, for when there is no socket and for API clients: each is the command its frame would be. */
export const conversationChanges = createRoutes()
  .post(
    "/messages",
    operation({
      tag: "conversations",
      summary: "One message to many conversations. Those that were refused say why; the others are sent",
      ok: { status: 200, body: SpreadResult },
      refusals: ["invalid_input", "unavailable", ...unfit, "forbidden_origin"],
    }),
    authenticate,
    validate("json", SpreadBody),
    (c) => carry<"spread">(c, { type: "spread", ...c.req.valid("json") }),
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
        "contact_blocked",
        "message_withdrawn",
        "conversation_full",
        "conversation_limited",
        ...unfit,
        "forbidden_origin",
      ],
    }),
    authenticate,
    validate("param", Named),
    validate("json", SendBody),
    (c) =>
      carry<"send">(c, {
        type: "send",
        conversation: c.req.valid("param").id,
        messages: c.req.valid("json").messages,
      }),
  )
  .delete(
    "/conversations/:id/messages/:seq",
    operation({
      tag: "conversations",
      summary: "Delete a message of one's own for everybody: its place stays",
      ok: { status: 200, body: Retracted },
      refusals: [...strangers, "message_not_found", "not_your_message", "forbidden_origin"],
    }),
    authenticate,
    validate("param", NamedMessage),
    (c) => {
      const { id: conversation, seq } = c.req.valid("param");
      return carry<"retract">(c, { type: "retract", conversation, seq });
    },
  )
  .put(
    "/conversations/:id/withdrawals/:cid",
    operation({
      tag: "conversations",
      summary: "Delete a message of one's own for everybody by its client id; one that has not come is not taken in",
      ok: { status: 200, body: Withdrawn },
      refusals: [...strangers, "message_not_found", "not_your_message", "forbidden_origin"],
    }),
    authenticate,
    validate("param", NamedByClient),
    (c) => {
      const { id: conversation, cid } = c.req.valid("param");
      return carry<"withdraw">(c, { type: "withdraw", conversation, cid });
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
    (c) => carry<"mark">(c, { type: "mark", conversation: c.req.valid("param").id, ...c.req.valid("json") }),
  )
  .post(
    "/conversations/:id/clear",
    operation({
      tag: "conversations",
      summary: "Remove messages up to a place from one's own view; the conversation stays in the list",
      ok: { status: 200, body: Hidden },
      refusals: [...strangers, "forbidden_origin"],
    }),
    authenticate,
    validate("param", Named),
    validate("json", ClearBody),
    (c) => carry<"hide">(c, hiding(c.req.valid("param").id, c.req.valid("json").upTo, true)),
  )
  .delete(
    "/conversations/:id",
    operation({
      tag: "conversations",
      summary: "Remove messages up to a place, or all so far, from one's own view, and the conversation from the list",
      ok: { status: 200, body: Hidden },
      refusals: [...strangers, "forbidden_origin"],
    }),
    authenticate,
    validate("param", Named),
    validate("query", HideQuery),
    (c) => carry<"hide">(c, hiding(c.req.valid("param").id, c.req.valid("query").upTo ?? newest, false)),
  )
  .put(
    "/mutes/:id",
    operation({
      tag: "conversations",
      summary: "Mute a conversation",
      ok: { status: 200, body: Muted },
      refusals: [...strangers, "forbidden_origin"],
    }),
    authenticate,
    validate("param", Named),
    (c) => mute(c, c.req.valid("param").id, true),
  )
  .delete(
    "/mutes/:id",
    operation({
      tag: "conversations",
      summary: "Let a conversation be heard again",
      ok: { status: 200, body: Muted },
      refusals: [...strangers, "forbidden_origin"],
    }),
    authenticate,
    validate("param", Named),
    (c) => mute(c, c.req.valid("param").id, false),
  );

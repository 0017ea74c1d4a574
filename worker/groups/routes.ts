import * as v from "valibot";
import { Seq } from "#contract/conversations.ts";
import type { ErrorCode } from "#contract/errors.ts";
import {
  Group,
  GroupChange,
  groupCan,
  MemberPage,
  MemberQuery,
  NewGroup,
  NewMembers,
  NewOwner,
  Receipts,
} from "#contract/groups.ts";
import { Uuid } from "#contract/ids.ts";
import { isRefusal } from "#contract/wire/commands.ts";
import { openDb } from "#worker/db/client.ts";
import { type AppContext, afterAnswer, createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { operation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller } from "#worker/lib/limits/rate-limit.ts";
import { deleteAvatar, storeAvatar } from "#worker/lib/storage/avatars.ts";
import type { ConversationRpc } from "#worker/objects/rpc.ts";
import { userChannelOf } from "#worker/objects/stubs.ts";
import { answer, ask, askNew, carryOut, change, describe, describeNew, leave, letGo } from "./ask-group.ts";
import { toMemberPage, toNewcomers } from "./queries.ts";

const Named = v.object({ id: Uuid });
const NamedMember = v.object({ id: Uuid, userId: Uuid });
const NamedMessage = v.object({
  id: Uuid,
  seq: v.pipe(v.string(), v.maxLength(16), v.digits(), v.transform(Number), Seq),
});

/** What a stranger hears of every group, and everybody of one that is not there. */
const strangers = ["invalid_input", "group_not_found", "unavailable"] as const satisfies ErrorCode[];
const changing = [...strangers, "not_allowed", "forbidden_origin"] as const satisfies ErrorCode[];

/** What was made before, by a caller who does it again: contacts may have come and gone since. */
const findMade = async (c: AppContext, id: Uuid): Promise<Group | undefined> => {
  const group = await describeNew(c, id);
  return !isRefusal(group) && group.created_by === c.var.caller.user ? group : undefined;
};

/** What one does to a group, and what a member may know of it. Who may is judged by its Conversation. */
export const groupsRoutes = createRoutes()
  .post(
    "/groups",
    operation({
      tag: "groups",
      summary: "Make a group of contacts, under an id that the caller made: doing it again changes nothing",
      ok: { status: 200, body: Group },
      refusals: [
        "invalid_input",
        "invalid_group_name",
        "group_without_members",
        "group_full",
        "group_exists",
        "not_your_contact",
        "not_addable",
        "contact_blocked",
        "unavailable",
        "forbidden_origin",
      ],
    }),
    authenticate,
    validate("json", NewGroup),
    limitCaller("group_by_user"),
    async (c) => {
      const { id, name, members } = c.req.valid("json");
      const people = await toNewcomers(openDb(c.env), c.var.caller.user, members);
      if (typeof people === "string") {
        const before = await findMade(c, id);
        return before ? c.json(before, 200) : refuse(c, people);
      }
      if (people.length === 0) return refuse(c, "group_without_members");
      const made = await askNew(c, id, (group, user) => group.create(id, user, name, people));
      return isRefusal(made) ? refuse(c, made.error) : answer(c, describeNew(c, id));
    },
  )
  .get(
    "/groups/:id",
    operation({ tag: "groups", summary: "A group one is in", ok: { status: 200, body: Group }, refusals: strangers }),
    authenticate,
    validate("param", Named),
    (c) => answer(c, describe(c, c.req.valid("param").id)),
  )
  .patch(
    "/groups/:id",
    operation({
      tag: "groups",
      summary: "Rename a group",
      ok: { status: 200, body: Group },
      refusals: [...changing, "invalid_group_name"],
    }),
    authenticate,
    validate("param", Named),
    validate("json", GroupChange),
    limitCaller("group_change_by_user"),
    (c) => answer(c, change(c, c.req.valid("param").id, { type: "rename", name: c.req.valid("json").name })),
  )
  .put(
    "/groups/:id/picture",
    operation({
      tag: "groups",
      summary: "Give a group a picture: a JPEG, PNG, WebP or GIF of at most 5 MB and 50 megapixels",
      takes: "image/*",
      ok: { status: 200, body: Group },
      refusals: [...changing, "file_too_large", "not_an_image", "image_too_many_pixels"],
    }),
    authenticate,
    validate("param", Named),
    limitCaller("group_picture_by_user"),
    async (c) => {
      const { id } = c.req.valid("param");
      // Read to its end also when it is refused: who still sends does not hear the answer.
      const bytes = new Uint8Array(await c.req.arrayBuffer());
      const group = await describe(c, id);
      if (isRefusal(group)) return refuse(c, group.error);
      if (!groupCan(group.role, "picture")) return refuse(c, "not_allowed");
      const stored = await storeAvatar(c.env, id, bytes);
      if ("refused" in stored) return refuse(c, stored.refused);
      const done = await carryOut(c, id, { type: "picture", key: stored.key }, group.picture);
      if (!isRefusal(done)) return answer(c, describe(c, id));
      // What is not known to be shown is kept: the answer may be all that was lost.
      if (done.error !== "unavailable") {
        afterAnswer(c.executionCtx, "delete a refused picture", deleteAvatar(c.env, stored.key));
      }
      return refuse(c, done.error);
    },
  )
  .delete(
    "/groups/:id/picture",
    operation({
      tag: "groups",
      summary: "Take a group's picture away",
      ok: { status: 200, body: Group },
      refusals: changing,
    }),
    authenticate,
    validate("param", Named),
    limitCaller("group_change_by_user"),
    (c) => answer(c, change(c, c.req.valid("param").id, { type: "picture", key: null })),
  )
  .get(
    "/groups/:id/members",
    operation({
      tag: "groups",
      summary:
        "Members in the order of their numbers; with `since` those who changed after a roster, who left too; or by `numbers`",
      ok: { status: 200, body: MemberPage },
      refusals: strangers,
    }),
    authenticate,
    validate("param", Named),
    validate("query", MemberQuery),
    async (c) => {
      const { numbers, since = 0, after = 0 } = c.req.valid("query");
      const query = numbers ? { numbers } : { since, after };
      const { id } = c.req.valid("param");
      const seats = await ask(c, id, (group, user) => group.seats(id, user, query));
      if (isRefusal(seats)) return refuse(c, seats.error);
      const page = await toMemberPage(openDb(c.env), c.var.caller.user, seats);
      letGo(c, id, seats, page);
      return c.json(page, 200);
    },
  )
  .post(
    "/groups/:id/members",
    operation({
      tag: "groups",
      summary: "Add contacts to a group: all of them or none",
      ok: { status: 200, body: Group },
      refusals: [
        ...changing,
        "group_without_members",
        "group_full",
        "not_your_contact",
        "not_addable",
        "member_has_left",
        "contact_blocked",
      ],
    }),
    authenticate,
    validate("param", Named),
    validate("json", NewMembers),
    limitCaller("group_change_by_user"),
    async (c) => {
      const { id } = c.req.valid("param");
      // Who may not add learns nothing of the people they name.
      const group = await describe(c, id);
      if (isRefusal(group)) return refuse(c, group.error);
      if (!groupCan(group.role, "add")) return refuse(c, "not_allowed");
      const people = await toNewcomers(openDb(c.env), c.var.caller.user, c.req.valid("json").members);
      if (typeof people === "string") return refuse(c, people);
      return answer(c, change(c, id, { type: "add", people }));
    },
  )
  .delete(
    "/groups/:id/members/:userId",
    operation({
      tag: "groups",
      summary: "Take a member out of a group, or leave it; an owner who leaves may name an `heir`",
      ok: { status: 204, body: null },
      refusals: [...changing, "member_not_found"],
    }),
    authenticate,
    validate("param", NamedMember),
    validate("query", v.object({ heir: v.optional(Uuid) })),
    limitCaller("group_change_by_user"),
    (c) => {
      const { id, userId } = c.req.valid("param");
      const { heir } = c.req.valid("query");
      if (userId !== c.var.caller.user) return leave(c, id, { type: "remove", user: userId });
      return leave(c, id, heir === undefined ? { type: "leave" } : { type: "leave", heir });
    },
  )
  .put(
    "/groups/:id/owner",
    operation({
      tag: "groups",
      summary: "Hand a group over to another member",
      ok: { status: 200, body: Group },
      refusals: [...changing, "member_not_found"],
    }),
    authenticate,
    validate("param", Named),
    validate("json", NewOwner),
    limitCaller("group_change_by_user"),
    (c) => answer(c, change(c, c.req.valid("param").id, { type: "handOver", user: c.req.valid("json").user_id })),
  )
  .delete(
    "/groups/:id",
    operation({
      tag: "groups",
      summary: "Delete a group for everybody, with all that was written in it",
      ok: { status: 204, body: null },
      refusals: changing,
    }),
    authenticate,
    validate("param", Named),
    limitCaller("group_change_by_user"),
    (c) => leave(c, c.req.valid("param").id, { type: "end" }),
  )
  .get(
    "/conversations/:id/messages/:seq/receipts",
    operation({
      tag: "groups",
      summary: "How far each of the others is with one's own message, by member number",
      ok: { status: 200, body: Receipts },
      refusals: ["invalid_input", "conversation_not_found", "message_not_found", "not_your_message", "unavailable"],
    }),
    authenticate,
    validate("param", NamedMessage),
    async (c) => {
      const { id, seq } = c.req.valid("param");
      const read = async (group: ConversationRpc, user: Uuid) => {
        const seenUpTo = await userChannelOf(c.env, user).seesReadUpTo(user, id);
        return group.receipts(id, user, seq, seq <= seenUpTo);
      };
      const receipts = await ask(c, id, read, "conversation_not_found");
      return isRefusal(receipts) ? refuse(c, receipts.error) : c.json(receipts, 200);
    },
  );

import * as v from "valibot";
import type { ErrorCode } from "#contract/errors.ts";
import {
  Group,
  GroupChange,
  GroupWithInvited,
  isGroupActionAllowed,
  MemberPage,
  MemberQuery,
  NewGroup,
  NewMembers,
  NewOwner,
  Receipts,
} from "#contract/groups.ts";
import { Uuid } from "#contract/ids.ts";
import { Seq } from "#contract/messages/positions.ts";
import { isRefusal } from "#contract/wire/commands.ts";
import { openDb } from "#worker/db/client.ts";
import { type AppContext, createRoutes, runAfterResponse } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller } from "#worker/lib/limits/rate-limit.ts";
import { deleteAvatar, storeAvatar } from "#worker/lib/storage/avatars.ts";
import type { ConversationRpc } from "#worker/objects/rpc/conversation-rpc.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";
import { readGroupMembersMax, takeTierToken } from "#worker/people/trust.ts";
import {
  askGroup,
  askNewGroup,
  changeGroup,
  executeGroupCommand,
  readGroup,
  readNewGroup,
  removeDeletedMembers,
  respondWithGroup,
  respondWithoutGroup,
} from "./ask-group.ts";
import {
  addAndInvite,
  checkInvitations,
  filterUnstored,
  inviteToNewGroup,
  respondWithInvited,
  withdrawJoined,
} from "./invite-people.ts";
import { planNewMembers, toMemberPage } from "./queries.ts";

const GroupIdParam = v.object({ id: Uuid });
const GroupMemberParams = v.object({ id: Uuid, userId: Uuid });
const GroupMessageParams = v.object({
  id: Uuid,
  seq: v.pipe(v.string(), v.maxLength(16), v.digits(), v.transform(Number), Seq),
});

/** Refusals for non-members of any group and for everybody of a missing one. */
const groupRefusals = ["invalid_input", "group_not_found", "unavailable"] as const satisfies ErrorCode[];
const groupChangeRefusals = [...groupRefusals, "not_allowed", "forbidden_origin"] as const satisfies ErrorCode[];

const inviteRefusals = [
  "user_not_found",
  "contact_blocked",
  "request_declined",
  "requests_used_up",
  "request_not_possible",
] as const satisfies ErrorCode[];

/** Group from an earlier identical request of the caller, whose contacts may have changed since then. */
const findCreatedGroup = async (c: AppContext, id: Uuid): Promise<Group | undefined> => {
  const group = await readNewGroup(c, id);
  return !isRefusal(group) && group.created_by === c.var.caller.user ? group : undefined;
};

/** Whether a group would have more members than the caller's trust tier allows. */
const isTooLargeForTier = async (c: AppContext, count: number): Promise<boolean> => {
  const max = await readGroupMembersMax(c.env, openDb(c.env), c.var.caller.user);
  return max !== null && count > max;
};

/** Group routes. The group's Conversation checks permissions. */
export const groupRoutes = createRoutes()
  .post(
    "/groups",
    describeOperation({
      tag: "groups",
      summary: "Create a group under an id created by the client. Who cannot be added gets an invitation. Idempotent",
      ok: { status: 200, body: GroupWithInvited },
      refusals: [
        "invalid_input",
        "invalid_group_name",
        "group_without_members",
        "group_full",
        "group_exists",
        ...inviteRefusals,
        "groups_used_up",
        "group_members_limited",
        "unavailable",
        "forbidden_origin",
      ],
    }),
    authenticate,
    validate("json", NewGroup),
    limitCaller("group_by_user"),
    async (c) => {
      const { id, name, members } = c.req.valid("json");
      const me = c.var.caller.user;
      const db = openDb(c.env);
      const refuseUnlessCreated = async (code: ErrorCode, wait: { retryAfterMs?: number } = {}) => {
        const existing = await findCreatedGroup(c, id);
        return existing ? c.json({ ...existing, invited: [] }, 200) : refuse(c, code, wait);
      };
      const plan = await planNewMembers(db, me, members);
      if (typeof plan === "string") return refuseUnlessCreated(plan);
      const { added, invited } = plan;
      if (added.length + invited.length === 0) return refuse(c, "group_without_members");
      if (await isTooLargeForTier(c, 1 + added.length + invited.length)) return refuse(c, "group_members_limited");
      const invitations = await checkInvitations(c, invited);
      if ("error" in invitations) return refuseUnlessCreated(invitations.error, invitations);
      const taken = await takeTierToken(c.env, db, me, "group");
      if (!taken.ok) return refuseUnlessCreated("groups_used_up", taken);
      const created = await askNewGroup(c, id, (group, user) => group.createGroup(user, name, added));
      if (isRefusal(created)) return refuse(c, created.error);
      return inviteToNewGroup(c, id, invitations);
    },
  )
  .get(
    "/groups/:id",
    describeOperation({
      tag: "groups",
      summary: "A group one is a member of",
      ok: { status: 200, body: Group },
      refusals: groupRefusals,
    }),
    authenticate,
    validate("param", GroupIdParam),
    (c) => respondWithGroup(c, readGroup(c, c.req.valid("param").id)),
  )
  .patch(
    "/groups/:id",
    describeOperation({
      tag: "groups",
      summary: "Rename a group",
      ok: { status: 200, body: Group },
      refusals: [...groupChangeRefusals, "invalid_group_name"],
    }),
    authenticate,
    validate("param", GroupIdParam),
    validate("json", GroupChange),
    limitCaller("group_change_by_user"),
    (c) =>
      respondWithGroup(c, changeGroup(c, c.req.valid("param").id, { type: "rename", name: c.req.valid("json").name })),
  )
  .put(
    "/groups/:id/picture",
    describeOperation({
      tag: "groups",
      summary: "Set a group's picture: a JPEG, PNG, WebP or GIF of at most 5 MB and 50 megapixels",
      bodyType: "image/*",
      ok: { status: 200, body: Group },
      refusals: [...groupChangeRefusals, "file_too_large", "not_an_image", "image_too_many_pixels"],
    }),
    authenticate,
    validate("param", GroupIdParam),
    limitCaller("group_picture_by_user"),
    async (c) => {
      const { id } = c.req.valid("param");
      // Read completely even if it is refused: a client that is still sending does not read the response.
      const bytes = new Uint8Array(await c.req.arrayBuffer());
      const group = await readGroup(c, id);
      if (isRefusal(group)) return refuse(c, group.error);
      if (!isGroupActionAllowed(group.role, "picture")) return refuse(c, "not_allowed");
      const stored = await storeAvatar(c.env, id, bytes);
      if ("refused" in stored) return refuse(c, stored.refused);
      const result = await executeGroupCommand(c, id, { type: "picture", key: stored.key }, group.picture);
      if (!isRefusal(result)) return respondWithGroup(c, readGroup(c, id));
      // After "unavailable" the picture is kept: the command may have succeeded and only its response been lost.
      if (result.error !== "unavailable") {
        runAfterResponse(c.executionCtx, "delete a refused picture", deleteAvatar(c.env, stored.key));
      }
      return refuse(c, result.error);
    },
  )
  .delete(
    "/groups/:id/picture",
    describeOperation({
      tag: "groups",
      summary: "Remove a group's picture",
      ok: { status: 200, body: Group },
      refusals: groupChangeRefusals,
    }),
    authenticate,
    validate("param", GroupIdParam),
    limitCaller("group_change_by_user"),
    (c) => respondWithGroup(c, changeGroup(c, c.req.valid("param").id, { type: "picture", key: null })),
  )
  .get(
    "/groups/:id/members",
    describeOperation({
      tag: "groups",
      summary:
        "Members in the order of their numbers; with `since` those changed after a members version, including former ones; or by `numbers`",
      ok: { status: 200, body: MemberPage },
      refusals: groupRefusals,
    }),
    authenticate,
    validate("param", GroupIdParam),
    validate("query", MemberQuery),
    async (c) => {
      const { numbers, since = 0, after = 0 } = c.req.valid("query");
      const query = numbers ? { numbers } : { since, after };
      const { id } = c.req.valid("param");
      const seats = await askGroup(c, id, (group, user) => group.listMembers(user, query));
      if (isRefusal(seats)) return refuse(c, seats.error);
      const page = await toMemberPage(openDb(c.env), c.var.caller.user, seats);
      removeDeletedMembers(c, id, seats, page);
      return c.json(page, 200);
    },
  )
  .post(
    "/groups/:id/members",
    describeOperation({
      tag: "groups",
      summary: "Add contacts to a group, and invite those who cannot be added: all of them or none",
      ok: { status: 200, body: GroupWithInvited },
      refusals: [
        ...groupChangeRefusals,
        "group_without_members",
        "group_full",
        ...inviteRefusals,
        "group_members_limited",
      ],
    }),
    authenticate,
    validate("param", GroupIdParam),
    validate("json", NewMembers),
    limitCaller("group_change_by_user"),
    async (c) => {
      const { id } = c.req.valid("param");
      // Checked first, so that a caller who may not add members learns nothing about the people they name.
      const group = await readGroup(c, id);
      if (isRefusal(group)) return refuse(c, group.error);
      if (!isGroupActionAllowed(group.role, "add")) return refuse(c, "not_allowed");
      const people = c.req.valid("json").members;
      const known = await askGroup(c, id, (group, user) => group.checkNewMembers(user, people));
      if (isRefusal(known)) return refuse(c, known.error);
      const plan = await planNewMembers(openDb(c.env), c.var.caller.user, people, known.toInvite);
      if (typeof plan === "string") return refuse(c, plan);
      const { added } = plan;
      const invited = plan.invited.filter(({ user }) => !known.members.includes(user));
      if (await isTooLargeForTier(c, group.count + known.otherInvitations + added.length + invited.length))
        return refuse(c, "group_members_limited");
      const invitations = await checkInvitations(c, await filterUnstored(c, id, invited, known));
      if ("error" in invitations) return refuse(c, invitations.error, invitations);
      const result = await addAndInvite(c, id, added, invitations);
      if (!isRefusal(result)) await withdrawJoined(c, id, added, known);
      return respondWithInvited(c, result, invited);
    },
  )
  .delete(
    "/groups/:id/members/:userId",
    describeOperation({
      tag: "groups",
      summary: "Remove a member from a group, or leave it; an owner who leaves may name the successor (`heir`)",
      ok: { status: 204, body: null },
      refusals: [...groupChangeRefusals, "member_not_found"],
    }),
    authenticate,
    validate("param", GroupMemberParams),
    validate("query", v.object({ heir: v.optional(Uuid) })),
    limitCaller("group_change_by_user"),
    (c) => {
      const { id, userId } = c.req.valid("param");
      const { heir } = c.req.valid("query");
      if (userId !== c.var.caller.user) return respondWithoutGroup(c, id, { type: "remove", user: userId });
      return respondWithoutGroup(c, id, heir === undefined ? { type: "leave" } : { type: "leave", successor: heir });
    },
  )
  .put(
    "/groups/:id/owner",
    describeOperation({
      tag: "groups",
      summary: "Transfer the ownership of a group to another member",
      ok: { status: 200, body: Group },
      refusals: [...groupChangeRefusals, "member_not_found"],
    }),
    authenticate,
    validate("param", GroupIdParam),
    validate("json", NewOwner),
    limitCaller("group_change_by_user"),
    (c) =>
      respondWithGroup(
        c,
        changeGroup(c, c.req.valid("param").id, { type: "handOver", user: c.req.valid("json").user_id }),
      ),
  )
  .delete(
    "/groups/:id",
    describeOperation({
      tag: "groups",
      summary: "Delete a group for everybody, with all its messages",
      ok: { status: 204, body: null },
      refusals: groupChangeRefusals,
    }),
    authenticate,
    validate("param", GroupIdParam),
    limitCaller("group_change_by_user"),
    (c) => respondWithoutGroup(c, c.req.valid("param").id, { type: "end" }),
  )
  .get(
    "/conversations/:id/messages/:seq/receipts",
    describeOperation({
      tag: "groups",
      summary: "Receipts of the other members for one's own message, by member number",
      ok: { status: 200, body: Receipts },
      refusals: ["invalid_input", "conversation_not_found", "message_not_found", "not_your_message", "unavailable"],
    }),
    authenticate,
    validate("param", GroupMessageParams),
    async (c) => {
      const { id, seq } = c.req.valid("param");
      const readReceipts = async (group: ConversationRpc, user: Uuid) => {
        const seenUpTo = await getUserChannelStub(c.env, user).getVisibleReadUpTo(id);
        return group.listReceipts(user, seq, seq <= seenUpTo);
      };
      const receipts = await askGroup(c, id, readReceipts, "conversation_not_found");
      return isRefusal(receipts) ? refuse(c, receipts.error) : c.json(receipts, 200);
    },
  );

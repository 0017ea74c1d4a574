import * as v from "valibot";
import {
  GroupWithInvited,
  isGroupActionAllowed,
  MemberPage,
  MemberQuery,
  NewMembers,
  Receipts,
} from "#contract/groups.ts";
import { Uuid } from "#contract/ids.ts";
import { Seq } from "#contract/messages/positions.ts";
import { isRefusal } from "#contract/wire/commands.ts";
import { openDb } from "#worker/db/client.ts";
import { createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller } from "#worker/lib/limits/rate-limit.ts";
import type { ConversationRpc } from "#worker/objects/rpc/conversation-rpc.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";
import {
  askGroup,
  groupChangeRefusals,
  groupRefusals,
  readGroup,
  removeDeletedMembers,
  respondWithoutGroup,
} from "./ask-group.ts";
import {
  addAndInvite,
  checkInvitations,
  filterUnstored,
  inviteRefusals,
  isTooLargeForTier,
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

/** Routes of the members of a group. The group's Conversation checks permissions. */
export const groupMemberRoutes = createRoutes()
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

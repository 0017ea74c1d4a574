import * as v from "valibot";
import type { ErrorCode } from "#contract/errors.ts";
import { Group, GroupCandidates, type GroupInvitation, GroupInvitations } from "#contract/groups.ts";
import { Uuid } from "#contract/ids.ts";
import { commonNamesMax } from "#contract/limits.ts";
import { isRefusal } from "#contract/wire/commands.ts";
import { openDb } from "#worker/db/client.ts";
import { listMemberProfiles, listRelations } from "#worker/db/relations.ts";
import { pushPendingAfterResponse } from "#worker/lib/contact-updates.ts";
import { type AppContext, createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller } from "#worker/lib/limits/rate-limit.ts";
import { logError } from "#worker/lib/log.ts";
import type { InvitingGroup } from "#worker/objects/rpc/groups.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";
import { askGroup, askNewGroup, executeGroupCommand, readNewGroup, respondWithGroup } from "./ask-group.ts";
import {
  findReceivedInvitation,
  type GroupInvitationRow,
  listContactIds,
  listReceivedInvitations,
  settleInvitation,
  withdrawInvitations,
} from "./invitation-queries.ts";

const invitedListedMax = 90; // a query of profiles accepts 100 values

const InvitationIdParam = v.object({ id: Uuid });

const answerRefusals = [
  "invalid_input",
  "group_invitation_not_found",
  "unavailable",
  "forbidden_origin",
] as const satisfies ErrorCode[];

const pushCount = (c: AppContext): void =>
  pushPendingAfterResponse(c, "push the number of invitations to own devices", [c.var.caller.user]);

type OpenInvitation = { row: GroupInvitationRow; group: InvitingGroup };

/** Asks the groups, at most 20. Invitations that ended there are withdrawn; those of unreachable groups are left out. */
const listOpenInvitations = async (c: AppContext): Promise<OpenInvitation[]> => {
  const db = openDb(c.env);
  const me = c.var.caller.user;
  const rows = await listReceivedInvitations(db, me);
  if (rows.length === 0) {
    pushCount(c); // the device has an older number: they expired
    return [];
  }
  const contacts = await listContactIds(db, me);
  const found = await Promise.all(
    rows.map(async (row): Promise<OpenInvitation[]> => {
      try {
        const group = await getConversationStub(c.env, row.group_id).findInvitation(me, contacts);
        if (!isRefusal(group) && group.owner === row.from_user_id) {
          const others = group.contacts.filter((contact) => contact !== group.owner);
          return [{ row, group: { ...group, contacts: others } }];
        }
        await settleInvitation(db, row, "withdrawn");
      } catch (error) {
        logError("a group could not be asked for an invitation", error);
      }
      return [];
    }),
  );
  const open = found.flat();
  if (open.length < rows.length) pushCount(c);
  return open;
};

const toGroupInvitations = async (c: AppContext, open: readonly OpenInvitation[]): Promise<GroupInvitation[]> => {
  const shown = open.flatMap(({ row, group }) => [row.from_user_id, ...group.contacts.slice(0, commonNamesMax)]);
  const relations = await listRelations(openDb(c.env), c.var.caller.user, [...new Set(shown)]);
  const byId = new Map(relations.map((relation) => [relation.profile.id, relation]));
  return open.flatMap(({ row, group }) => {
    const sender = byId.get(row.from_user_id);
    if (!sender) return [];
    const is_contact = sender.state === "contact";
    const names = group.contacts.slice(0, commonNamesMax).map((id) => byId.get(id)?.profile.username ?? "");
    return {
      id: row.id,
      group: { id: row.group_id, name: group.name, count: group.count },
      from_user: is_contact ? sender.profile : { ...sender.profile, avatar_url: null },
      is_contact,
      created_at: row.created_at,
      contacts: { count: group.contacts.length, names },
    };
  });
};

/** Invitations to groups, for the people who get them and for the owners. The groups decide. */
export const groupInvitationRoutes = createRoutes()
  .get(
    "/group-invitations",
    describeOperation({
      tag: "groups",
      summary: "Received invitations to groups that wait for an answer, newest first",
      ok: { status: 200, body: GroupInvitations },
    }),
    authenticate,
    limitCaller("request_contexts_by_user"),
    async (c) => c.json({ invitations: await toGroupInvitations(c, await listOpenInvitations(c)) }, 200),
  )
  .post(
    "/group-invitations/:id/accept",
    describeOperation({
      tag: "groups",
      summary: "Accept an invitation: the caller becomes a member of the group",
      ok: { status: 200, body: Group },
      refusals: [...answerRefusals, "group_full", "group_not_found", "contact_blocked"],
    }),
    authenticate,
    validate("param", InvitationIdParam),
    limitCaller("contact_change_by_user"),
    async (c) => {
      const db = openDb(c.env);
      const me = c.var.caller.user;
      const row = await findReceivedInvitation(db, me, c.req.valid("param").id);
      // An accepted one again, on another device or after a lost response: the group knows whether one is a member.
      if (!row || row.status === "declined" || row.status === "void") return refuse(c, "group_invitation_not_found");
      if (row.isBlocked) return refuse(c, "contact_blocked");
      if (row.isBlocking || row.status === "withdrawn") {
        // Accepted, but the directory was not told before the list was read.
        const joined = await readNewGroup(c, row.group_id);
        if (!isRefusal(joined)) return c.json(joined, 200);
        return refuse(c, joined.error === "unavailable" ? "unavailable" : "group_invitation_not_found");
      }
      const answer = await askNewGroup(c, row.group_id, (group, user) => group.answerInvitation(user, true));
      if (!isRefusal(answer)) await settleInvitation(db, row, "accepted");
      else if (answer.error === "group_invitation_not_found") await settleInvitation(db, row, "withdrawn");
      pushCount(c);
      return isRefusal(answer) ? refuse(c, answer.error) : respondWithGroup(c, readNewGroup(c, row.group_id));
    },
  )
  .post(
    "/group-invitations/:id/decline",
    describeOperation({
      tag: "groups",
      summary: "Decline an invitation. Its sender is not told",
      ok: { status: 204, body: null },
      refusals: answerRefusals,
    }),
    authenticate,
    validate("param", InvitationIdParam),
    limitCaller("contact_change_by_user"),
    async (c) => {
      const db = openDb(c.env);
      const row = await findReceivedInvitation(db, c.var.caller.user, c.req.valid("param").id);
      if (row?.status === "declined") return c.body(null, 204);
      if (row?.status !== "pending" || row.isBlocked) return refuse(c, "group_invitation_not_found");
      const answer = await askNewGroup(c, row.group_id, (group, user) => group.answerInvitation(user, false));
      if (isRefusal(answer) && answer.error !== "group_invitation_not_found") return refuse(c, answer.error);
      await settleInvitation(db, row, isRefusal(answer) ? "withdrawn" : "declined");
      pushCount(c);
      return isRefusal(answer) ? refuse(c, answer.error) : c.body(null, 204);
    },
  )
  .get(
    "/groups/:id/invitations",
    describeOperation({
      tag: "groups",
      summary: "For who may add members: the invited people, and former members who can be invited or added again",
      ok: { status: 200, body: GroupCandidates },
      refusals: ["invalid_input", "group_not_found", "not_allowed", "unavailable"],
    }),
    authenticate,
    validate("param", v.object({ id: Uuid })),
    async (c) => {
      const found = await askGroup(c, c.req.valid("param").id, (group, user) => group.listCandidates(user));
      if (isRefusal(found)) return refuse(c, found.error);
      const invited = found.invited.slice(0, invitedListedMax);
      const profiles = await Promise.all(
        [invited.map(({ user }) => user), found.former].map((ids) =>
          listMemberProfiles(openDb(c.env), c.var.caller.user, new Map(ids.map((id) => [id, "id"]))),
        ),
      );
      const byId = new Map(profiles.flat().map((profile) => [profile.id, profile]));
      return c.json(
        {
          invited: invited.flatMap(({ user, at }) => {
            const profile = byId.get(user);
            return profile ? { profile, created_at: at } : [];
          }),
          former: found.former.flatMap((user) => byId.get(user) ?? []),
        },
        200,
      );
    },
  )
  .delete(
    "/groups/:id/invitations/:userId",
    describeOperation({
      tag: "groups",
      summary: "Withdraw an invitation to a group",
      ok: { status: 204, body: null },
      refusals: ["invalid_input", "group_not_found", "not_allowed", "unavailable", "forbidden_origin"],
    }),
    authenticate,
    validate("param", v.object({ id: Uuid, userId: Uuid })),
    limitCaller("group_change_by_user"),
    async (c) => {
      const { id, userId } = c.req.valid("param");
      const result = await executeGroupCommand(c, id, { type: "uninvite", user: userId });
      if (isRefusal(result)) return refuse(c, result.error);
      await withdrawInvitations(c.env, id, { to: userId });
      return c.body(null, 204);
    },
  );

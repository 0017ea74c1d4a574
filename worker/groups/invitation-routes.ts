import * as v from "valibot";
import type { ErrorCode } from "#contract/errors.ts";
import { Group, GroupCandidates, GroupInvitations } from "#contract/groups.ts";
import { Uuid } from "#contract/ids.ts";
import { isRefusal } from "#contract/wire/commands.ts";
import { openDb } from "#worker/db/client.ts";
import { listMemberProfiles } from "#worker/db/relations.ts";
import { createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller } from "#worker/lib/limits/rate-limit.ts";
import { askGroup, askNewGroup, executeGroupCommand, readNewGroup, respondWithGroup } from "./ask-group.ts";
import { findReceivedInvitation, settleInvitation, withdrawInvitations } from "./invitation-queries.ts";
import { listGroupInvitations, pushInvitationCount } from "./received-invitations.ts";

const invitedListedMax = 90; // a query of profiles accepts 100 values

const InvitationIdParam = v.object({ id: Uuid });

const answerRefusals = [
  "invalid_input",
  "group_invitation_not_found",
  "unavailable",
  "forbidden_origin",
] as const satisfies ErrorCode[];

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
    async (c) => c.json({ invitations: await listGroupInvitations(c) }, 200),
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
      pushInvitationCount(c);
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
      pushInvitationCount(c);
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
      summary: "Withdraw an invitation to a group, unless it was accepted",
      ok: { status: 204, body: null },
      refusals: [
        "invalid_input",
        "group_not_found",
        "group_invitation_not_found",
        "not_allowed",
        "unavailable",
        "forbidden_origin",
      ],
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

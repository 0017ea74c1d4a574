import {
  InvitationAcceptance,
  invitationUsesMax,
  OwnInvitation,
  toInvitationPath,
} from "#contract/names/invitation.ts";
import { Relation } from "#contract/people.ts";
import { openDb } from "#worker/db/client.ts";
import { findRelation } from "#worker/db/relations.ts";
import { pushPendingAfterResponse } from "#worker/lib/contact-updates.ts";
import { type AppContext, createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { getPublicOrigin, requirePublicOrigin } from "#worker/lib/http/public-origin.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller, takeToken } from "#worker/lib/limits/rate-limit.ts";
import { openConversation } from "./accept-request.ts";
import {
  deleteInvitation,
  findInviter,
  findOwnInvitation,
  insertInvitation,
  redeemInvitation,
} from "./invitation-queries.ts";
import { findConnectionRequest, markRequestAccepted } from "./queries.ts";

const toOwnInvitation = (
  c: AppContext,
  row: { token: string; expires_at: number; uses: number } | undefined,
): OwnInvitation => ({
  invitation: row
    ? {
        url: getPublicOrigin(c) + toInvitationPath(row.token),
        expires_at: row.expires_at,
        uses_left: invitationUsesMax - row.uses,
      }
    : null,
});

export const invitationRoutes = createRoutes()
  .get(
    "/invitation",
    describeOperation({
      tag: "contacts",
      summary: "One's own valid invitation, or null",
      ok: { status: 200, body: OwnInvitation },
      refusals: ["public_url_missing"],
    }),
    requirePublicOrigin,
    authenticate,
    async (c) => c.json(toOwnInvitation(c, await findOwnInvitation(openDb(c.env), c.var.caller.user)), 200),
  )
  .post(
    "/invitation",
    describeOperation({
      tag: "contacts",
      summary: "One's own valid invitation; creates one if there is none. It connects 20 people within 30 days",
      ok: { status: 200, body: OwnInvitation },
      refusals: ["public_url_missing", "forbidden_origin"],
    }),
    requirePublicOrigin,
    authenticate,
    async (c) => {
      const db = openDb(c.env);
      const me = c.var.caller.user;
      const present = await findOwnInvitation(db, me);
      if (present) return c.json(toOwnInvitation(c, present), 200);
      const taken = await takeToken(db, me, "invitation_by_user");
      if (!taken.ok) return refuse(c, "rate_limited", taken);
      return c.json(toOwnInvitation(c, await insertInvitation(db, me)), 200);
    },
  )
  .delete(
    "/invitation",
    describeOperation({
      tag: "contacts",
      summary: "Revoke one's own invitation: its link connects nobody from then on",
      ok: { status: 200, body: OwnInvitation },
      refusals: ["forbidden_origin"],
    }),
    authenticate,
    limitCaller("contact_change_by_user"),
    async (c) => {
      await deleteInvitation(openDb(c.env), c.var.caller.user);
      return c.json({ invitation: null }, 200);
    },
  )
  .post(
    "/invitations/accept",
    describeOperation({
      tag: "contacts",
      summary: "Accept an invitation: the caller and its sender are connected at once",
      ok: { status: 200, body: Relation },
      refusals: [
        "invalid_input",
        "invitation_not_found",
        "request_to_self",
        "contact_blocked",
        "accept_failed",
        "forbidden_origin",
      ],
    }),
    authenticate,
    // Not in the URL, which logs and proxies store.
    validate("json", InvitationAcceptance, "invitation_not_found"),
    limitCaller("link_search_by_user"),
    async (c) => {
      const me = c.var.caller.user;
      const { token } = c.req.valid("json");
      const db = openDb(c.env);
      const inviter = await findInviter(db, me, token);
      if (inviter === undefined) return refuse(c, "invitation_not_found");
      if (inviter === me) return refuse(c, "request_to_self");
      const before = await findRelation(db, me, inviter);
      if (before?.blocked) return refuse(c, "contact_blocked");
      // Accepted before, by another tab or by a request whose response was lost.
      if (before?.state === "contact") return c.json(before, 200);
      const id = await redeemInvitation(db, me, { token, inviter });
      const request = id === undefined ? undefined : await findConnectionRequest(db, id);
      const acceptance = request && (await markRequestAccepted(db, request));
      const isOpen = acceptance && (await openConversation(c.env, db, request, acceptance));
      pushPendingAfterResponse(c, "push the changed relation to both people", [me, inviter]);
      if (isOpen === false) return refuse(c, "accept_failed");
      const relation = await findRelation(db, me, inviter);
      return relation?.state === "contact" ? c.json(relation, 200) : refuse(c, "invitation_not_found");
    },
  );

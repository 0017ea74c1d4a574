import * as v from "valibot";
import { ContactPage, NewRequest, RequestContexts, RequestPage } from "#contract/contacts.ts";
import { privateConversationId, Uuid } from "#contract/ids.ts";
import { Relation } from "#contract/people.ts";
import { Allowance } from "#contract/settings/trust-tiers.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { findConnection, findRelation } from "#worker/db/relations.ts";
import { pushPendingAfterResponse } from "#worker/lib/contact-updates.ts";
import { type AppContext, createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller } from "#worker/lib/limits/rate-limit.ts";
import { logError } from "#worker/lib/log.ts";
import { can } from "#worker/lib/permissions.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";
import { openConversation } from "./accept-request.ts";
import {
  declineFormerRequest,
  deleteConnection,
  findConnectionRequest,
  insertConnectionRequest,
  listContacts,
  listRequests,
  markRequestAccepted,
  markRequestDeclined,
} from "./queries.ts";
import { listRequestContexts } from "./request-contexts.ts";
import { checkContactRequestQuota, readAllowance } from "./request-limits.ts";

const RequestIdParam = v.object({ id: Uuid });

const notifyBoth = (c: AppContext, a: Uuid, b: Uuid): void =>
  pushPendingAfterResponse(c, "push the changed relation to both people", [a, b]);

/** A request that the caller may answer; undefined for anybody else's. */
const findAnswerableRequest = async (db: Db, me: Uuid, id: Uuid) => {
  const request = await findConnectionRequest(db, id);
  return request && can.answerRequest(me, request) ? request : undefined;
};

const refusalByState = {
  contact: "already_connected",
  sent: "request_already_sent",
  received: "request_already_received",
} as const;

export const contactRoutes = createRoutes()
  .get(
    "/requests",
    describeOperation({
      tag: "contacts",
      summary: "Pending requests, received and sent, newest first",
      ok: { status: 200, body: RequestPage },
      refusals: ["invalid_input"],
    }),
    authenticate,
    validate("query", v.object({ before: v.optional(Uuid) })),
    async (c) => c.json(await listRequests(openDb(c.env), c.var.caller.user, c.req.valid("query").before), 200),
  )
  .get(
    "/requests/contexts",
    describeOperation({
      tag: "contacts",
      summary: "What is known of the senders of the newest received requests: common contacts and groups, country, age",
      ok: { status: 200, body: RequestContexts },
    }),
    authenticate,
    limitCaller("request_contexts_by_user"),
    async (c) => c.json({ contexts: await listRequestContexts(c.env, c.var.caller.user) }, 200),
  )
  .get(
    "/allowance",
    describeOperation({
      tag: "contacts",
      summary: "How many new people one may reach today, by requests, groups and statuses",
      ok: { status: 200, body: Allowance },
    }),
    authenticate,
    async (c) => c.json(await readAllowance(c.env, openDb(c.env), c.var.caller.user), 200),
  )
  .post(
    "/requests",
    describeOperation({
      tag: "contacts",
      summary: "Send a connection request",
      ok: { status: 200, body: Relation },
      refusals: [
        "invalid_input",
        "request_to_self",
        "user_not_found",
        "request_already_sent",
        "request_already_received",
        "already_connected",
        "request_declined",
        "requests_used_up",
        "request_not_possible",
        "contact_blocked",
        "forbidden_origin",
      ],
    }),
    authenticate,
    validate("json", NewRequest),
    limitCaller("request_by_user"),
    async (c) => {
      const me = c.var.caller.user;
      const other = c.req.valid("json").to_user_id;
      if (!can.sendRequest(me, { id: other })) return refuse(c, "request_to_self");
      const db = openDb(c.env);
      const before = await findRelation(db, me, other);
      if (!before) return refuse(c, "user_not_found");
      if (before.blocked) return refuse(c, "contact_blocked");
      if (before.state !== "none") return refuse(c, refusalByState[before.state]);
      const quota = await checkContactRequestQuota(c.env, db, me, other);
      if ("code" in quota) return refuse(c, quota.code, quota);
      const id = await insertConnectionRequest(db, me, other, quota.condition);
      const now = await findRelation(db, me, other);
      if (!now) return refuse(c, "user_not_found");
      if (id === undefined) {
        const remaining = now.state === "none" ? await checkContactRequestQuota(c.env, db, me, other) : quota;
        if ("code" in remaining) return refuse(c, remaining.code, remaining);
        // A concurrent request of the other person or of another device came first. A request that is already gone
        // counts as sent.
        return refuse(c, refusalByState[now.state === "none" ? "sent" : now.state]);
      }
      notifyBoth(c, me, other);
      return c.json(now, 200);
    },
  )
  .post(
    "/requests/:id/accept",
    describeOperation({
      tag: "contacts",
      summary: "Accept a received request: the two are connected and may write to each other",
      ok: { status: 200, body: Relation },
      refusals: ["invalid_input", "request_not_found", "contact_blocked", "accept_failed", "forbidden_origin"],
    }),
    authenticate,
    validate("param", RequestIdParam),
    limitCaller("contact_change_by_user"),
    async (c) => {
      const me = c.var.caller.user;
      const db = openDb(c.env);
      const request = await findAnswerableRequest(db, me, c.req.valid("param").id);
      if (!request) return refuse(c, "request_not_found");
      if (request.blocked) return refuse(c, "contact_blocked");
      const other = request.from_user_id;
      const acceptance = await markRequestAccepted(db, request);
      if (acceptance) {
        const isOpen = await openConversation(c.env, db, request, acceptance);
        notifyBoth(c, me, other);
        if (!isOpen) return refuse(c, "accept_failed");
      }
      const relation = await findRelation(db, me, other);
      // Accepted before, on another device or by a request whose response was lost: return the same result.
      const isAccepted = relation?.state === "contact" && (acceptance || relation.request_id === request.id);
      return isAccepted ? c.json(relation, 200) : refuse(c, "request_not_found");
    },
  )
  .post(
    "/requests/:id/decline",
    describeOperation({
      tag: "contacts",
      summary: "Decline a received request",
      ok: { status: 200, body: Relation },
      refusals: ["invalid_input", "request_not_found", "forbidden_origin"],
    }),
    authenticate,
    validate("param", RequestIdParam),
    limitCaller("contact_change_by_user"),
    async (c) => {
      const me = c.var.caller.user;
      const db = openDb(c.env);
      const request = await findAnswerableRequest(db, me, c.req.valid("param").id);
      if (!request || !(await markRequestDeclined(db, request))) return refuse(c, "request_not_found");
      notifyBoth(c, me, request.from_user_id);
      const relation = await findRelation(db, me, request.from_user_id);
      return relation ? c.json(relation, 200) : refuse(c, "request_not_found");
    },
  )
  .get(
    "/contacts",
    describeOperation({
      tag: "contacts",
      summary: "Own contacts, in order of creation",
      ok: { status: 200, body: ContactPage },
      refusals: ["invalid_input"],
    }),
    authenticate,
    validate("query", v.object({ after: v.optional(Uuid) })),
    async (c) => c.json(await listContacts(openDb(c.env), c.var.caller.user, c.req.valid("query").after), 200),
  )
  .delete(
    "/contacts/:userId",
    describeOperation({
      tag: "contacts",
      summary: "End the connection with somebody: the history stays, neither can write",
      ok: { status: 200, body: Relation },
      refusals: ["invalid_input", "contact_not_found", "unavailable", "forbidden_origin"],
    }),
    authenticate,
    validate("param", v.object({ userId: Uuid })),
    limitCaller("contact_change_by_user"),
    async (c) => {
      const me = c.var.caller.user;
      const other = c.req.valid("param").userId;
      const db = openDb(c.env);
      const connection = await findConnection(db, me, other);
      if (!connection) return refuse(c, "contact_not_found");
      const conversation = privateConversationId(me, other);
      try {
        // The conversation is closed first, because it enforces who may write; the later steps can be repeated.
        await getConversationStub(c.env, conversation).closeConnection(connection.id);
      } catch (error) {
        logError("a conversation could not be closed", error);
        return refuse(c, "unavailable");
      }
      await deleteConnection(db, connection.id, me, other);
      if (connection.request_id !== null) {
        await declineFormerRequest(db, connection.request_id).catch((error: unknown) =>
          logError("the request of a deleted contact could not be marked declined", error),
        );
      }
      notifyBoth(c, me, other);
      const relation = await findRelation(db, me, other);
      return relation ? c.json(relation, 200) : refuse(c, "contact_not_found");
    },
  );

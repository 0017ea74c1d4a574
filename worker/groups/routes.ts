import * as v from "valibot";
import type { ErrorCode } from "#contract/errors.ts";
import { Group, GroupChange, GroupWithInvited, isGroupActionAllowed, NewGroup, NewOwner } from "#contract/groups.ts";
import { Uuid } from "#contract/ids.ts";
import { isRefusal } from "#contract/wire/commands.ts";
import { openDb } from "#worker/db/client.ts";
import { type AppContext, createRoutes, runAfterResponse } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller } from "#worker/lib/limits/rate-limit.ts";
import { deleteAvatar, storeAvatar } from "#worker/lib/storage/avatars.ts";
import { takeTierToken } from "#worker/people/trust.ts";
import {
  askNewGroup,
  changeGroup,
  executeGroupCommand,
  groupChangeRefusals,
  groupRefusals,
  readGroup,
  readNewGroup,
  respondWithGroup,
  respondWithoutGroup,
} from "./ask-group.ts";
import { checkInvitations, inviteRefusals, inviteToNewGroup, isTooLargeForTier } from "./invite-people.ts";
import { planNewMembers } from "./queries.ts";

const GroupIdParam = v.object({ id: Uuid });

/** Group from an earlier identical request of the caller, whose contacts may have changed since then. */
const findCreatedGroup = async (c: AppContext, id: Uuid): Promise<Group | undefined> => {
  const group = await readNewGroup(c, id);
  return !isRefusal(group) && group.created_by === c.var.caller.user ? group : undefined;
};

/** Group routes. The group's Conversation checks permissions. */
export const groupRoutes = createRoutes()
  .post(
    "/groups",
    describeOperation({
      tag: "groups",
      id: "create_group_with_members",
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
  );

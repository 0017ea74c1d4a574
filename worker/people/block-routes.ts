import * as v from "valibot";
import { BlockList } from "#contract/contacts.ts";
import { Uuid } from "#contract/ids.ts";
import { Relation } from "#contract/people.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { findRelation } from "#worker/db/relations.ts";
import { pushPendingAfterResponse, setConversationBlock } from "#worker/lib/contact-updates.ts";
import { createRoutes, runAfterResponse } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller } from "#worker/lib/limits/rate-limit.ts";
import { logError } from "#worker/lib/log.ts";
import { can } from "#worker/lib/permissions.ts";
import { deleteAvatar } from "#worker/lib/storage/avatars.ts";
import { deleteBlock, insertBlock, listBlocks, queueUnblock, restoreBlock } from "./block-queries.ts";

const BlockedUserParam = v.object({ userId: Uuid });
const BlockCursor = v.pipe(v.string(), v.maxLength(16), v.digits(), v.transform(Number));
const reconcileAttemptsMax = 3;

/** Sets or ends the block in the conversation; returns false if it cannot be reached. */
const notifyConversation = async (env: Env, me: Uuid, other: Uuid, isBlocked: boolean): Promise<boolean> => {
  try {
    await setConversationBlock(env, me, other, isBlocked);
    return true;
  } catch (error) {
    logError("a conversation could not be notified of a block", error);
    return false;
  }
};

/**
 * Relation after the conversation was notified. If another device of the caller changed the block at the same moment,
 * the conversation is notified again with the directory's current value. Every writer checks again afterwards, so both
 * agree in the end.
 */
const reconcileBlock = async (
  env: Env,
  db: Db,
  me: Uuid,
  other: Uuid,
  isNotifiedBlocked: boolean,
): Promise<Relation | undefined> => {
  let relation = await findRelation(db, me, other);
  let isBlocked = isNotifiedBlocked;
  for (let i = 0; i < reconcileAttemptsMax && relation && relation.blocked !== isBlocked; i++) {
    isBlocked = relation.blocked;
    if (!(await notifyConversation(env, me, other, isBlocked))) return undefined;
    relation = await findRelation(db, me, other);
  }
  return relation;
};

export const blockRoutes = createRoutes()
  .get(
    "/blocks",
    describeOperation({
      tag: "contacts",
      summary: "Blocked people, newest first",
      ok: { status: 200, body: BlockList },
      refusals: ["invalid_input"],
    }),
    authenticate,
    validate("query", v.object({ before: v.optional(BlockCursor) })),
    async (c) => c.json(await listBlocks(openDb(c.env), c.var.caller.user, c.req.valid("query").before), 200),
  )
  .put(
    "/blocks/:userId",
    describeOperation({
      tag: "contacts",
      summary: "Block somebody: nothing of theirs is delivered any more, and they are not notified",
      ok: { status: 200, body: Relation },
      refusals: ["invalid_input", "user_not_found", "unavailable", "forbidden_origin"],
    }),
    authenticate,
    validate("param", BlockedUserParam),
    limitCaller("block_by_user"),
    async (c) => {
      const me = c.var.caller.user;
      const other = c.req.valid("param").userId;
      if (!can.block(me, { id: other })) return refuse(c, "invalid_input");
      const db = openDb(c.env);
      if (!(await findRelation(db, me, other))) return refuse(c, "user_not_found");
      const { isNew, queued } = await insertBlock(db, me, other);
      if (!(await notifyConversation(c.env, me, other, true))) {
        if (isNew) await deleteBlock(db, me, other);
        pushPendingAfterResponse(c, "push an undone block", queued);
        return refuse(c, "unavailable");
      }
      const relation = await reconcileBlock(c.env, db, me, other, true);
      pushPendingAfterResponse(c, "push a new block", queued);
      return relation ? c.json(relation, 200) : refuse(c, "unavailable");
    },
  )
  .delete(
    "/blocks/:userId",
    describeOperation({
      tag: "contacts",
      summary: "Unblock somebody. Messages they sent meanwhile stay undelivered",
      ok: { status: 200, body: Relation },
      refusals: ["invalid_input", "user_not_found", "unavailable", "forbidden_origin"],
    }),
    authenticate,
    validate("param", BlockedUserParam),
    limitCaller("block_by_user"),
    async (c) => {
      const me = c.var.caller.user;
      const other = c.req.valid("param").userId;
      if (!can.block(me, { id: other })) return refuse(c, "invalid_input");
      const db = openDb(c.env);
      const before = await findRelation(db, me, other);
      if (!before || !can.readProfile(me, { id: other, ...before })) return refuse(c, "user_not_found");
      const { block, unusedAvatar } = await deleteBlock(db, me, other);
      // Without a block the conversation is not even called: one is created for people who have something in common.
      if (block && !(await notifyConversation(c.env, me, other, false))) {
        // The call may have succeeded and only its response been lost: the queued update blocks again.
        await restoreBlock(db, block);
        pushPendingAfterResponse(c, "push a restored block", [me]);
        return refuse(c, "unavailable");
      }
      const relation = block ? await reconcileBlock(c.env, db, me, other, false) : before;
      const queued = block ? await queueUnblock(db, me, other) : [me];
      pushPendingAfterResponse(c, "push an ended block", queued);
      if (unusedAvatar !== undefined)
        runAfterResponse(c.executionCtx, "delete a blocker's old avatar", deleteAvatar(c.env, unusedAvatar));
      return relation ? c.json(relation, 200) : refuse(c, "unavailable");
    },
  );

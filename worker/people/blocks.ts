import * as v from "valibot";
import { BlockList } from "#contract/contacts.ts";
import { privateConversationId, Uuid } from "#contract/ids.ts";
import { Relation } from "#contract/people.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { relationTo } from "#worker/db/relations.ts";
import { flushEach } from "#worker/lib/contact-updates.ts";
import { afterAnswer, createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { operation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller } from "#worker/lib/limits/rate-limit.ts";
import { logError } from "#worker/lib/log.ts";
import { can } from "#worker/lib/permissions.ts";
import { deleteAvatar } from "#worker/lib/storage/avatars.ts";
import { conversationOf } from "#worker/objects/stubs.ts";
import { deleteBlock, insertBlock, listBlocks, queueUnblocking, restoreBlock } from "./block-queries.ts";

const Named = v.object({ userId: Uuid });
const Place = v.pipe(v.string(), v.maxLength(16), v.digits(), v.transform(Number));
const agreeingTries = 3;

/** Has the conversation let the other through, or not; false when it cannot be reached. */
const tell = async (env: Env, me: Uuid, other: Uuid, isBlocked: boolean): Promise<boolean> => {
  const id = privateConversationId(me, other);
  try {
    await conversationOf(env, id).block(id, me, isBlocked);
    return true;
  } catch (error) {
    logError("a conversation could not be told of a block", error);
    return false;
  }
};

/**
 * How the other stands to me once the conversation was told. When another of my devices decided otherwise at the
 * same moment, the conversation is told what the directory says by now: each who changes it looks again afterwards.
 */
const agree = async (env: Env, db: Db, me: Uuid, other: Uuid, told: boolean): Promise<Relation | undefined> => {
  let relation = await relationTo(db, me, other);
  let isBlocked = told;
  for (let i = 0; i < agreeingTries && relation && relation.blocked !== isBlocked; i++) {
    isBlocked = relation.blocked;
    if (!(await tell(env, me, other, isBlocked))) return undefined;
    relation = await relationTo(db, me, other);
  }
  return relation;
};

export const blocksRoutes = createRoutes()
  .get(
    "/blocks",
    operation({
      tag: "contacts",
      summary: "Whom one has blocked, the last first",
      ok: { status: 200, body: BlockList },
      refusals: ["invalid_input"],
    }),
    authenticate,
    validate("query", v.object({ before: v.optional(Place) })),
    async (c) => c.json(await listBlocks(openDb(c.env), c.var.caller.user, c.req.valid("query").before), 200),
  )
  .put(
    "/blocks/:userId",
    operation({
      tag: "contacts",
      summary: "Block somebody: nothing of theirs comes through any more, and they are not told",
      ok: { status: 200, body: Relation },
      refusals: ["invalid_input", "user_not_found", "unavailable", "forbidden_origin"],
    }),
    authenticate,
    validate("param", Named),
    limitCaller("block_by_user"),
    async (c) => {
      const me = c.var.caller.user;
      const other = c.req.valid("param").userId;
      if (!can.block(me, { id: other })) return refuse(c, "invalid_input");
      const db = openDb(c.env);
      if (!(await relationTo(db, me, other))) return refuse(c, "user_not_found");
      // First the conversation, which holds messages back: what fails after it can be repeated.
      if (!(await tell(c.env, me, other, true))) return refuse(c, "unavailable");
      await insertBlock(db, me, other);
      const relation = await agree(c.env, db, me, other, true);
      afterAnswer(c.executionCtx, "tell of a block", flushEach(c.env, [me]));
      return relation ? c.json(relation, 200) : refuse(c, "unavailable");
    },
  )
  .delete(
    "/blocks/:userId",
    operation({
      tag: "contacts",
      summary: "Let somebody through again. What they sent meanwhile stays held back",
      ok: { status: 200, body: Relation },
      refusals: ["invalid_input", "user_not_found", "unavailable", "forbidden_origin"],
    }),
    authenticate,
    validate("param", Named),
    limitCaller("block_by_user"),
    async (c) => {
      const me = c.var.caller.user;
      const other = c.req.valid("param").userId;
      if (!can.block(me, { id: other })) return refuse(c, "invalid_input");
      const db = openDb(c.env);
      const before = await relationTo(db, me, other);
      if (!before) return refuse(c, "user_not_found");
      const { block, released } = await deleteBlock(db, me, other);
      // The conversation is told also when the directory knows of no block: a Worker may have died between the two.
      if (!(await tell(c.env, me, other, false))) {
        if (block) {
          await restoreBlock(db, block);
          // The call may have arrived and only its answer been lost: then the conversation must not let through.
          await tell(c.env, me, other, true);
          afterAnswer(c.executionCtx, "tell of a block that stays", flushEach(c.env, [me]));
        }
        return refuse(c, "unavailable");
      }
      const relation = await agree(c.env, db, me, other, false);
      await queueUnblocking(db, me, other);
      afterAnswer(c.executionCtx, "tell of an ended block", flushEach(c.env, [me, other]));
      if (released !== undefined)
        afterAnswer(c.executionCtx, "delete a blocker's old avatar", deleteAvatar(c.env, released));
      return relation ? c.json(relation, 200) : refuse(c, "unavailable");
    },
  );

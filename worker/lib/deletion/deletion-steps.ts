import { eq } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import { avatarSizes } from "#contract/limits/files.ts";
import { openDb } from "#worker/db/client.ts";
import { group_invitations } from "#worker/db/relation-schema.ts";
import { listPendingRecipients, pushPendingToEach, queueInvitationCounts } from "#worker/lib/contact-updates.ts";
import { purgeUserBuckets } from "#worker/lib/limits/rate-limit.ts";
import { toPictureFolder } from "#worker/lib/storage/post-pictures.ts";
import { anonymizeAllForwards } from "./anonymize-all-forwards.ts";
import { purgeUserFiles } from "./purge-user-files.ts";

/**
 * Steps of an account deletion outside the person's own UserChannel, whose `AccountDeletionJob`
 * (worker/objects/user-channel/account-deletion.ts) runs them in order. Each step searches for what is left, so that it
 * can be repeated, and returns true when nothing is left.
 */
type DeletionStep = (env: Env, user: Uuid) => Promise<boolean>;

const listingMax = 1_000; // page size of an R2 listing
const invitationsAtOnce = 100;

const notifyOfDeletion: DeletionStep = async (env, user) => {
  const db = openDb(env);
  await pushPendingToEach(env, await listPendingRecipients(db, user));
  return (await listPendingRecipients(db, user)).length === 0;
};

const purgeUserPictures: DeletionStep = async ({ AVATARS }, user) => {
  let isDone = true;
  for (const prefix of [...avatarSizes.map((size) => `${size}/${user}_`), toPictureFolder(user)]) {
    const { objects, truncated } = await AVATARS.list({ prefix, limit: listingMax });
    if (objects.length > 0) await AVATARS.delete(objects.map(({ key }) => key));
    if (truncated) isDone = false;
  }
  return isDone;
};

/** Deletes invitations to groups. The groups delete the id of an invited person. */
const purgeGroupInvitations: DeletionStep = async (env, user) => {
  const db = openDb(env);
  const received = await db
    .select({ id: group_invitations.id, group: group_invitations.group_id })
    .from(group_invitations)
    .where(eq(group_invitations.to_user_id, user))
    .limit(invitationsAtOnce);
  for (const { id, group } of received) {
    await env.CONVERSATION.getByName(group).removeDeletedUser(user);
    await db.delete(group_invitations).where(eq(group_invitations.id, id));
  }
  const isSent = eq(group_invitations.from_user_id, user);
  const [, sent] = await db.batch([
    queueInvitationCounts(db, isSent),
    db.delete(group_invitations).where(isSent).returning({ to: group_invitations.to_user_id }),
  ]);
  await pushPendingToEach(env, [...new Set(sent.map(({ to }) => to))]);
  return received.length < invitationsAtOnce;
};

const purgeUserLimits: DeletionStep = async (env, user) => {
  await purgeUserBuckets(openDb(env), user);
  return true;
};

export const deletionSteps = {
  notifyPeople: notifyOfDeletion,
  anonymizeForwards: anonymizeAllForwards,
  purgePictures: purgeUserPictures,
  purgeFiles: purgeUserFiles,
  purgeGroupInvitations,
  purgeLimits: purgeUserLimits,
} satisfies Record<string, DeletionStep>;

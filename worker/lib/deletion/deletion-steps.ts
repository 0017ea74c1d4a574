import type { Uuid } from "#contract/ids.ts";
import { avatarSizes } from "#contract/limits.ts";
import { openDb } from "#worker/db/client.ts";
import { listPendingRecipients, pushPendingToEach } from "#worker/lib/contact-updates.ts";
import { purgeUserBuckets } from "#worker/lib/limits/rate-limit.ts";
import { toPictureFolder } from "#worker/lib/storage/post-pictures.ts";
import { anonymizeAllForwards } from "./anonymize-forwards.ts";
import { purgeUserFiles } from "./delete-files.ts";

/**
 * What is left to do of a deletion outside the person's own channel. Each step looks for what is still there, so that it
 * can be done again by whoever takes the deletion up, and answers whether it found the last of it.
 */
type DeletionStep = (env: Env, user: Uuid) => Promise<boolean>;

const listingMax = 1_000; // the platform's page of a listing

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

const purgeUserLimits: DeletionStep = async (env, user) => {
  await purgeUserBuckets(openDb(env), user);
  return true;
};

export const deletionSteps = {
  tellPeople: notifyOfDeletion,
  clearForwards: anonymizeAllForwards,
  clearPictures: purgeUserPictures,
  clearFiles: purgeUserFiles,
  clearBuckets: purgeUserLimits,
} satisfies Record<string, DeletionStep>;

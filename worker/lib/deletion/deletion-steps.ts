import type { Uuid } from "#contract/ids.ts";
import { avatarSizes } from "#contract/limits.ts";
import { openDb } from "#worker/db/client.ts";
import { flushEach, listToTell } from "#worker/lib/contact-updates.ts";
import { forgetBuckets } from "#worker/lib/limits/rate-limit.ts";
import { pictureFolder } from "#worker/lib/storage/post-pictures.ts";
import { clearForwards } from "./anonymize-forwards.ts";
import { clearFiles } from "./delete-files.ts";

/**
 * What is left to do of a deletion outside the person's own channel. Each step looks for what is still there, so that it
 * can be done again by whoever takes the deletion up, and answers whether it found the last of it.
 */
type Step = (env: Env, user: Uuid) => Promise<boolean>;

const listingMax = 1_000; // the platform's page of a listing

const tellPeople: Step = async (env, user) => {
  const db = openDb(env);
  await flushEach(env, await listToTell(db, user));
  return (await listToTell(db, user)).length === 0;
};

const clearPictures: Step = async ({ AVATARS }, user) => {
  let isDone = true;
  for (const prefix of [...avatarSizes.map((size) => `${size}/${user}_`), pictureFolder(user)]) {
    const { objects, truncated } = await AVATARS.list({ prefix, limit: listingMax });
    if (objects.length > 0) await AVATARS.delete(objects.map(({ key }) => key));
    if (truncated) isDone = false;
  }
  return isDone;
};

const clearBuckets: Step = async (env, user) => {
  await forgetBuckets(openDb(env), user);
  return true;
};

export const deletionSteps = { tellPeople, clearForwards, clearPictures, clearFiles, clearBuckets } satisfies Record<
  string,
  Step
>;

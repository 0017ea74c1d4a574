import * as v from "valibot";
import { Profile } from "#contract/people.ts";
import { request } from "#lib/http/api.ts";
import { running } from "#sync/engine.ts";
import { keepAnswer, readMe } from "#sync/store/own-profile-row.ts";

const pictureTimeoutMs = 120_000;

const change = async (ask: () => Promise<unknown>): Promise<Profile> => {
  const context = running.get()?.tab.context.get();
  // A store that cannot be read keeps nobody from it.
  const before = context && (await readMe(context.store).catch(() => undefined));
  const profile = v.parse(Profile, await ask());
  // The change stands on the server: a phone that is full reads it there the next time.
  if (before !== undefined && context?.me === profile.id)
    await keepAnswer(context.store, before, profile).catch(() => undefined);
  return profile;
};

/** Gives oneself another name. This and the next need the network and throw `ApiFailure`. */
export const changeName = async (username: string): Promise<void> => {
  await change(() => request("PATCH", "/api/profile", { username }));
};

/** Answers the key of the new picture. */
export const changePicture = async (picture: Blob): Promise<string | null> => {
  const options = { raw: true, timeoutMs: pictureTimeoutMs };
  return (await change(() => request("PUT", "/api/profile/avatar", picture, options))).avatar_url;
};

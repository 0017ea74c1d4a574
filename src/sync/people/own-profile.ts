import * as v from "valibot";
import { Profile } from "#contract/people.ts";
import { requestApi } from "#lib/http/api.ts";
import { activeEngine } from "#sync/engine.ts";
import { mergeFetchedProfile, readOwnProfile } from "#sync/store/own-profile-row.ts";

const pictureTimeoutMs = 120_000;

const requestProfileChange = async (ask: () => Promise<unknown>): Promise<Profile> => {
  const context = activeEngine.get()?.tab.context.get();
  // A store that cannot be read keeps nobody from it.
  const before = context && (await readOwnProfile(context.store).catch(() => undefined));
  const profile = v.parse(Profile, await ask());
  // The change stands on the server: a phone that is full reads it there the next time.
  if (before !== undefined && context?.me === profile.id)
    await mergeFetchedProfile(context.store, before, profile).catch(() => undefined);
  return profile;
};

/** Gives oneself another name. This and the next need the network and throw `ApiFailure`. */
export const changeUsername = async (username: string): Promise<void> => {
  await requestProfileChange(() => requestApi("PATCH", "/api/profile", { username }));
};

/** Answers the key of the new picture. */
export const changeProfilePicture = async (picture: Blob): Promise<string | null> => {
  const options = { raw: true, timeoutMs: pictureTimeoutMs };
  return (await requestProfileChange(() => requestApi("PUT", "/api/profile/avatar", picture, options))).avatar_url;
};

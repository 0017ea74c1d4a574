import * as v from "valibot";
import { Profile } from "#contract/people.ts";
import { requestApi } from "#lib/http/api.ts";
import { mergeFetchedProfile } from "#sync/commands/fetch-profile.ts";
import { currentEngine } from "#sync/engine/engine.ts";
import { readOwnProfile } from "#sync/store/own-profile-row.ts";

const pictureTimeoutMs = 120_000;

/** Changes the own profile on the server, then in the local store. Rejects with an `ApiFailure`. */
const requestProfileChange = async (request: () => Promise<unknown>): Promise<Profile> => {
  const context = currentEngine.get()?.client.context.get();
  // The change works without a readable store.
  const before = context && (await readOwnProfile(context.store).catch(() => undefined));
  const profile = v.parse(Profile, await request());
  // The server has the change; a phone without storage fetches it next time.
  if (before !== undefined && context?.me === profile.id)
    await mergeFetchedProfile(context.store, before, profile).catch(() => undefined);
  return profile;
};

/** Changes the own name. Needs the network; rejects with an `ApiFailure`. */
export const changeUsername = async (username: string): Promise<void> => {
  await requestProfileChange(() => requestApi("PATCH", "/api/profile", { username }));
};

/** Changes the own picture. Resolves to the key of the new picture; rejects with an `ApiFailure`. */
export const changeProfilePicture = async (picture: Blob): Promise<string | null> => {
  const options = { isRawBody: true, timeoutMs: pictureTimeoutMs };
  return (await requestProfileChange(() => requestApi("PUT", "/api/profile/avatar", picture, options))).avatar_url;
};

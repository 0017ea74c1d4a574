import * as v from "valibot";
import { Profile } from "../../contract/people";
import { request } from "../lib/api";
import { running } from "./engine";
import { keepProfile } from "./profile";

const pictureTimeoutMs = 120_000;

const change = async (answered: Promise<unknown>): Promise<Profile> => {
  const profile = v.parse(Profile, await answered);
  const context = running.get()?.tab.context.get();
  // The change stands on the server: a phone that is full reads it there the next time.
  if (context?.me === profile.id) await keepProfile(context, profile).catch(() => undefined);
  return profile;
};

/** Gives oneself another name. This and the next need the network and throw `ApiFailure`. */
export const changeName = async (username: string): Promise<void> => {
  await change(request("PATCH", "/api/profile", { username }));
};

/** Answers the key of the new picture. */
export const changePicture = async (picture: Blob): Promise<string | null> =>
  (await change(request("PUT", "/api/profile/avatar", picture, { raw: true, timeoutMs: pictureTimeoutMs }))).avatar_url;

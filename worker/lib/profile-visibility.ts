import type { Uuid } from "#contract/ids.ts";
import type { Profile, Relation, RelationState } from "#contract/people.ts";
import { maskToCountryCode, maskToLastDigits } from "#contract/phone/phone-text.ts";
import type { Settings } from "#contract/settings/settings.ts";
import { toPresentNumber } from "./absent-number.ts";
import type { PlainAudience } from "./exceptions.ts";

/**
 * Decides which fields of a profile a reader sees; no other code does (docs/decisions/profile-visibility.md). Whether
 * the relation alone opens the profile is `can.readProfile` (worker/lib/permissions.ts).
 */

/** Visible part of a number: all of it, country code and last two digits, country code, nothing. */
type PhoneVisibility = "full" | "lastDigits" | "country" | "hidden";

/**
 * Way in which a reader reached another person's profile. `state` is the relation as the reader sees it: `sent` is a
 * request of theirs, `received` one of the other person's. `foundBy` is what the profile was found by: the full number
 * typed in a search, some of its digits, a shared group, the handle or personal link, or only the id, as in relations,
 * blocks, statuses, forwards and groups about their former members.
 */
export type ProfileAccess = {
  state: RelationState;
  foundBy: "number" | "digits" | "group" | "handle" | "id";
};

/** Profile with the settings that decide who sees its fields, as they are for the reader. */
export type StoredProfile = Omit<Profile, "handle" | "verified" | "deleted"> & {
  handle: string | null;
  verified_at: number | null;
  /** The person shows their number to members of their groups. */
  phoneInGroups: Settings["phoneInGroups"];
  phoneTo: Exclude<PlainAudience, "everyone">;
  pictureTo: PlainAudience;
};

/**
 * A person reveals their number by accepting a request or by their group setting, unless they show it to nobody. The
 * recipient of a request sees the sender's country. Requesters, declined people and former contacts see no more than
 * strangers; a searcher who typed the full number knows it already. `Settings.findable` affects search only. A search
 * by some digits reveals no others: with the last two, only a hundred numbers would be left to try.
 */
const getPhoneVisibility = (
  { state, foundBy }: ProfileAccess,
  { phoneInGroups, phoneTo }: Pick<StoredProfile, "phoneInGroups" | "phoneTo">,
): PhoneVisibility => {
  if (foundBy === "number") return "full";
  const showsNumber = phoneTo !== "nobody";
  if (state === "contact" && showsNumber) return "full";
  if (foundBy === "group") return phoneInGroups && showsNumber ? "full" : "lastDigits";
  return foundBy === "digits" || state === "received" ? "country" : "hidden";
};

/** The sender of a request shows their picture to the recipient once they accept, and before in a common group. */
const isPictureVisible = ({ state, foundBy }: ProfileAccess, pictureTo: PlainAudience): boolean =>
  state === "contact"
    ? pictureTo !== "nobody"
    : pictureTo === "everyone" && (state !== "received" || foundBy === "group");

/** Handle and verified mark are for people who look for the person, are related to them or share a group. */
const isIdentityVisible = ({ state, foundBy }: ProfileAccess): boolean => state !== "none" || foundBy !== "id";

const toVisiblePhone = (stored: string, visibility: PhoneVisibility): string => {
  const phone = toPresentNumber(stored);
  if (phone === "" || visibility === "hidden") return "";
  if (visibility === "full") return phone;
  return visibility === "country" ? maskToCountryCode(phone) : maskToLastDigits(phone);
};

/**
 * Profile as it may leave the Worker for this reader. Name and day of registration are visible wherever the profile is:
 * the id contains the second.
 */
export const toVisibleProfile = (me: Uuid, stored: StoredProfile, access: ProfileAccess): Profile => {
  const { id, username, phone, avatar_url, created_at, handle, verified_at, pictureTo } = stored;
  const isOwn = me === id;
  const hasIdentity = isOwn || isIdentityVisible(access);
  return {
    id,
    username,
    phone: toVisiblePhone(phone, isOwn ? "full" : getPhoneVisibility(access, stored)),
    avatar_url: isOwn || isPictureVisible(access, pictureTo) ? avatar_url : null,
    created_at,
    ...(hasIdentity && handle !== null ? { handle } : {}),
    ...(hasIdentity && verified_at !== null ? { verified: true as const } : {}),
  };
};

/** Stored relation with what is visible today by id alone. The settings of the other person were applied before. */
export const toVisibleRelation = (relation: Relation, me: Uuid): Relation => {
  const { profile, state } = relation;
  if (profile.deleted) return relation;
  const { handle = null, verified, ...shown } = profile;
  const settings = { phoneInGroups: false, phoneTo: "contacts", pictureTo: "everyone" } as const;
  const stored = { ...shown, handle, verified_at: verified ? 1 : null, ...settings };
  const visible = toVisibleProfile(me, stored, { state, foundBy: "id" });
  const isSame = Object.entries(profile).every(([name, value]) => visible[name as keyof Profile] === value);
  return isSame ? relation : { ...relation, profile: visible };
};

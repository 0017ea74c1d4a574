import type { Uuid } from "#contract/ids.ts";
import type { Relation, RelationState } from "#contract/people.ts";
import { maskToCountryCode, maskToLastDigits } from "#contract/phone/phone-text.ts";
import { toPresentNumber } from "./absent-number.ts";
import type { PlainAudience } from "./exceptions.ts";

/** Visible part of a number: all of it, country code and last two digits, country code, nothing. */
type PhoneVisibility = "full" | "lastDigits" | "country" | "hidden";

/**
 * Way in which a reader reached another person's profile. `state` is the relation as the reader sees it: `sent` is a
 * request of theirs, `received` one of the other person's. `foundBy` is what the profile was found by: the full number
 * typed in a search, some of its digits, a shared group, the handle or personal link, or only the id, as in statuses,
 * forwards and groups.
 */
export type PhoneAccess = {
  isOwn: boolean;
  state: RelationState;
  foundBy: "number" | "digits" | "group" | "handle" | "id";
  /** The other person shows their number to members of their groups. */
  phoneInGroups: boolean;
  /** `Settings.phoneTo` as it is for this reader. */
  phoneTo: Exclude<PlainAudience, "everyone">;
};

/** Relation of a reader to a profile, and who may see its picture: `Settings.pictureTo` as it is for this reader. */
type PictureAccess = Pick<PhoneAccess, "isOwn" | "state" | "foundBy"> & { pictureTo: PlainAudience };

/**
 * Decides who sees a phone number; no other code does. A person reveals it by accepting a request or by their
 * group setting, unless they show it to nobody (`Settings.phoneTo`). The recipient of a request sees the sender's
 * country. Requesters, declined people and former contacts see no more than strangers; a searcher who typed the full
 * number knows it already. `Settings.findable` affects search only. A search by some digits reveals no others: with the
 * last two, only a hundred numbers would be left to try.
 */
export const getPhoneVisibility = ({ isOwn, state, foundBy, phoneInGroups, phoneTo }: PhoneAccess): PhoneVisibility => {
  if (isOwn || foundBy === "number") return "full";
  const showsNumber = phoneTo !== "nobody";
  if (state === "contact" && showsNumber) return "full";
  if (foundBy === "group") return phoneInGroups && showsNumber ? "full" : "lastDigits";
  return foundBy === "digits" || state === "received" ? "country" : "hidden";
};

/**
 * Decides whether a reader sees a person's picture (`Settings.pictureTo`). The sender of a request shows it to the
 * recipient once they accept, and before in a common group.
 */
export const isPictureVisible = ({ isOwn, state, foundBy, pictureTo }: PictureAccess): boolean => {
  if (isOwn) return true;
  if (state === "contact") return pictureTo !== "nobody";
  return pictureTo === "everyone" && (state !== "received" || foundBy === "group");
};

/** Phone number as it may leave the Worker for this reader; empty if it is hidden. */
export const toVisiblePhone = (access: PhoneAccess, stored: string): string => {
  const phone = toPresentNumber(stored);
  if (phone === "") return "";
  const view = getPhoneVisibility(access);
  if (view === "full") return phone;
  if (view === "country") return maskToCountryCode(phone);
  return view === "lastDigits" ? maskToLastDigits(phone) : "";
};

/** Stored relation with what is visible today by id alone. The settings of the other person were applied before. */
export const toVisibleRelation = (relation: Relation, me: Uuid): Relation => {
  const { profile, state } = relation;
  const shown = { phoneInGroups: false, phoneTo: "contacts", pictureTo: "everyone" } as const;
  const access = { isOwn: profile.id === me, state, foundBy: "id" as const, ...shown };
  const phone = profile.phone === "" ? "" : toVisiblePhone(access, profile.phone);
  const avatar_url = isPictureVisible(access) ? profile.avatar_url : null;
  const isSame = phone === profile.phone && avatar_url === profile.avatar_url;
  return isSame ? relation : { ...relation, profile: { ...profile, phone, avatar_url } };
};

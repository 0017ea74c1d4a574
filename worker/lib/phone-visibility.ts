import type { Uuid } from "#contract/ids.ts";
import type { Relation, RelationState } from "#contract/people.ts";
import { maskPhone, maskWholePhone } from "#contract/phone.ts";

/** How much of a number is told: all of it, its country and last two digits, its country, nothing. */
type PhoneVisibility = "whole" | "ending" | "country" | "hidden";

/**
 * How somebody comes to another person's profile. `state` is the relation as the reader sees it: `sent` is a request of
 * theirs, `received` one of the other person's. `by` is what the profile was found by: the whole number, as it was typed
 * in a search; some digits of it; a group that both are in; an id alone, as statuses, forwards and groups tell it.
 */
export type PhoneAccess = {
  isOwn: boolean;
  state: RelationState;
  by: "number" | "digits" | "group" | "id";
  /** The other person shows their number to members of their groups. */
  phoneInGroups: boolean;
};

/**
 * The only rule for who sees a phone number. A person reveals it by accepting a request, by sending one, or by their group
 * setting. Requesters, refused people and former contacts see no more than strangers; whoever typed the number has it
 * already. `Settings.findable` affects search only. Whoever typed some digits is told no others: with the last two only a
 * hundred numbers would be left to try.
 */
export const getPhoneVisibility = ({ isOwn, state, by, phoneInGroups }: PhoneAccess): PhoneVisibility => {
  if (isOwn || state === "contact" || state === "received" || by === "number") return "whole";
  if (by === "group") return phoneInGroups ? "whole" : "ending";
  return by === "digits" ? "country" : "hidden";
};

/** A number as it may leave the Worker for this reader; empty where nothing of it may. */
export const toVisiblePhone = (meeting: PhoneAccess, phone: string): string => {
  const view = getPhoneVisibility(meeting);
  if (view === "whole") return phone;
  if (view === "country") return maskWholePhone(phone);
  return view === "ending" ? maskPhone(phone) : "";
};

/** A relation that was written down earlier, with as much of the number as may be told today: that of an id alone. */
export const toVisibleRelation = (relation: Relation, me: Uuid): Relation => {
  const { profile, state } = relation;
  const phone = toVisiblePhone({ isOwn: profile.id === me, state, by: "id", phoneInGroups: false }, profile.phone);
  return phone === profile.phone ? relation : { ...relation, profile: { ...profile, phone } };
};

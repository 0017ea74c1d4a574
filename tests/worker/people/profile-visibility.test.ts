import { expect, test } from "vitest";
import { relationStates } from "#contract/people.ts";
import {
  getPhoneVisibility,
  isPictureVisible,
  type PhoneAccess,
  toVisiblePhone,
} from "#worker/lib/phone-visibility.ts";

/** All of a reader's paths to another person's profile, and how much of the number each shows. */
const searchMethods = ["number", "digits", "group", "handle", "id"] as const;
const table: Record<(typeof relationStates)[number], Record<(typeof searchMethods)[number], [string, string]>> = {
  // each without and with the setting that shows the number in groups
  contact: {
    number: ["full", "full"],
    digits: ["full", "full"],
    group: ["full", "full"],
    handle: ["full", "full"],
    id: ["full", "full"],
  },
  // They sent the reader a request, who sees their country.
  received: {
    number: ["full", "full"],
    digits: ["country", "country"],
    group: ["lastDigits", "full"],
    handle: ["country", "country"],
    id: ["country", "country"],
  },
  // The reader sent them a request.
  sent: {
    number: ["full", "full"],
    digits: ["country", "country"],
    group: ["lastDigits", "full"],
    handle: ["hidden", "hidden"],
    id: ["hidden", "hidden"],
  },
  // Strangers, and refused, blocked and former contacts.
  none: {
    number: ["full", "full"],
    digits: ["country", "country"],
    group: ["lastDigits", "full"],
    handle: ["hidden", "hidden"],
    id: ["hidden", "hidden"],
  },
};

test.each(relationStates.flatMap((state) => searchMethods.map((by) => [state, by] as const)))(
  "visibility of the number of a person in state %s with, and found by, %s",
  (state, by) => {
    const meeting: PhoneAccess = { isOwn: false, state, foundBy: by, phoneInGroups: false, phoneTo: "contacts" };
    expect([getPhoneVisibility(meeting), getPhoneVisibility({ ...meeting, phoneInGroups: true })]).toEqual(
      table[state][by],
    );
  },
);

test("the own number is complete, and a masked one keeps the country and at most two digits", () => {
  const meeting: PhoneAccess = { isOwn: true, state: "none", foundBy: "id", phoneInGroups: false, phoneTo: "nobody" };
  expect(toVisiblePhone(meeting, "+243810000042")).toBe("+243810000042");
  expect(toVisiblePhone({ ...meeting, isOwn: false, foundBy: "group" }, "+243810000042")).toBe("+243 •• ••• •• 42");
  expect(toVisiblePhone({ ...meeting, isOwn: false, foundBy: "group" }, "+14155550142")).toBe("+1 •• ••• •• 42");
  expect(toVisiblePhone({ ...meeting, isOwn: false, foundBy: "digits" }, "+14155550142")).toBe("+1 •• ••• •• ••");
  expect(toVisiblePhone({ ...meeting, isOwn: false }, "+243810000042")).toBe("");
});

test("a person who shows their number to nobody shows contacts as much as strangers", () => {
  for (const foundBy of searchMethods) {
    const stranger: PhoneAccess = { isOwn: false, state: "none", foundBy, phoneInGroups: false, phoneTo: "contacts" };
    const contact: PhoneAccess = { ...stranger, state: "contact", phoneInGroups: true, phoneTo: "nobody" };
    expect(getPhoneVisibility(contact)).toBe(getPhoneVisibility(stranger));
  }
});

test.each(["everyone", "contacts", "nobody"] as const)("visibility of a picture for %s", (pictureTo) => {
  for (const state of relationStates)
    for (const foundBy of searchMethods) {
      // The sender of a request shows it in common groups only.
      const byStrangers = pictureTo === "everyone" && (state !== "received" || foundBy === "group");
      const isVisible = state === "contact" ? pictureTo !== "nobody" : byStrangers;
      expect(isPictureVisible({ isOwn: false, state, foundBy, pictureTo })).toBe(isVisible);
      expect(isPictureVisible({ isOwn: true, state, foundBy, pictureTo })).toBe(true);
    }
});

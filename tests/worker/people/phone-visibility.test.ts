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
    const meeting: PhoneAccess = { isOwn: false, state, foundBy: by, phoneInGroups: false };
    expect([getPhoneVisibility(meeting), getPhoneVisibility({ ...meeting, phoneInGroups: true })]).toEqual(
      table[state][by],
    );
  },
);

test("the own number is complete, and a masked one keeps the country and at most two digits", () => {
  const meeting: PhoneAccess = { isOwn: true, state: "none", foundBy: "id", phoneInGroups: false };
  expect(toVisiblePhone(meeting, "+243810000042")).toBe("+243810000042");
  expect(toVisiblePhone({ ...meeting, isOwn: false, foundBy: "group" }, "+243810000042")).toBe("+243 •• ••• •• 42");
  expect(toVisiblePhone({ ...meeting, isOwn: false, foundBy: "group" }, "+14155550142")).toBe("+1 •• ••• •• 42");
  expect(toVisiblePhone({ ...meeting, isOwn: false, foundBy: "digits" }, "+14155550142")).toBe("+1 •• ••• •• ••");
  expect(toVisiblePhone({ ...meeting, isOwn: false }, "+243810000042")).toBe("");
});

test("the picture of the sender of a request is seen in common groups only, that of everybody else everywhere", () => {
  for (const state of relationStates)
    for (const foundBy of searchMethods)
      expect(isPictureVisible({ isOwn: false, state, foundBy })).toBe(state !== "received" || foundBy === "group");
  expect(isPictureVisible({ isOwn: true, state: "received", foundBy: "id" })).toBe(true);
});

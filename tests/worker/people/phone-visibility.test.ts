import { expect, test } from "vitest";
import { relationStates } from "#contract/people.ts";
import { getPhoneVisibility, type PhoneAccess, toVisiblePhone } from "#worker/lib/phone-visibility.ts";

/** All of one reader's ways to another person's profile, and how much of the number each shows. */
const ways = ["number", "digits", "group", "id"] as const;
const table: Record<(typeof relationStates)[number], Record<(typeof ways)[number], [string, string]>> = {
  // each without and with the setting that shows a number in groups
  contact: {
    number: ["whole", "whole"],
    digits: ["whole", "whole"],
    group: ["whole", "whole"],
    id: ["whole", "whole"],
  },
  // They asked the reader: who asks tells their number.
  received: {
    number: ["whole", "whole"],
    digits: ["whole", "whole"],
    group: ["whole", "whole"],
    id: ["whole", "whole"],
  },
  // The reader asked them.
  sent: {
    number: ["whole", "whole"],
    digits: ["country", "country"],
    group: ["ending", "whole"],
    id: ["hidden", "hidden"],
  },
  // Strangers, refused, blocked and former contacts alike.
  none: {
    number: ["whole", "whole"],
    digits: ["country", "country"],
    group: ["ending", "whole"],
    id: ["hidden", "hidden"],
  },
};

test.each(relationStates.flatMap((state) => ways.map((by) => [state, by] as const)))(
  "of whom one is in state %s with and found by %s",
  (state, by) => {
    const meeting: PhoneAccess = { isOwn: false, state, foundBy: by, phoneInGroups: false };
    expect([getPhoneVisibility(meeting), getPhoneVisibility({ ...meeting, phoneInGroups: true })]).toEqual(
      table[state][by],
    );
  },
);

test("one's own number is whole, and a masked one keeps the country and at most two digits", () => {
  const meeting: PhoneAccess = { isOwn: true, state: "none", foundBy: "id", phoneInGroups: false };
  expect(toVisiblePhone(meeting, "+243810000042")).toBe("+243810000042");
  expect(toVisiblePhone({ ...meeting, isOwn: false, foundBy: "group" }, "+243810000042")).toBe("+243 •• ••• •• 42");
  expect(toVisiblePhone({ ...meeting, isOwn: false, foundBy: "group" }, "+14155550142")).toBe("+1 •• ••• •• 42");
  expect(toVisiblePhone({ ...meeting, isOwn: false, foundBy: "digits" }, "+14155550142")).toBe("+1 •• ••• •• ••");
  expect(toVisiblePhone({ ...meeting, isOwn: false }, "+243810000042")).toBe("");
});

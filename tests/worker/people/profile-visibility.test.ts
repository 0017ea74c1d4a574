import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { relationStates } from "#contract/people.ts";
import { type ProfileAccess, type StoredProfile, toVisibleProfile } from "#worker/lib/profile-visibility.ts";

const [me, other] = [createUuid(), createUuid()];
const phone = "+243810000042";
const stored: StoredProfile = {
  id: other,
  username: "Nadia",
  phone,
  avatar_url: "avatar",
  created_at: 1,
  handle: "nadia",
  verified_at: 1,
  phoneInGroups: false,
  phoneTo: "contacts",
  pictureTo: "everyone",
};
const see = (access: ProfileAccess, settings: Partial<StoredProfile> = {}) =>
  toVisibleProfile(me, { ...stored, ...settings }, access);

const views = { full: phone, lastDigits: "+243 •• ••• •• 42", country: "+243 •• ••• •• ••", hidden: "" };
type View = keyof typeof views;

/** All of a reader's paths to another person's profile, and how much of the number each shows. */
const searchMethods = ["number", "digits", "group", "handle", "id"] as const;
const table: Record<(typeof relationStates)[number], Record<(typeof searchMethods)[number], [View, View]>> = {
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
  // Strangers, and refused and former contacts.
  none: {
    number: ["full", "full"],
    digits: ["country", "country"],
    group: ["lastDigits", "full"],
    handle: ["hidden", "hidden"],
    id: ["hidden", "hidden"],
  },
};

const ways = relationStates.flatMap((state) => searchMethods.map((foundBy) => ({ state, foundBy })));

test.each(ways)("visibility of the number of a person in state $state with, and found by, $foundBy", (way) => {
  expect([see(way).phone, see(way, { phoneInGroups: true }).phone]).toEqual(
    table[way.state][way.foundBy].map((view) => views[view]),
  );
});

test("the own profile is complete, whatever the settings, and a missing number stays missing", () => {
  const own = toVisibleProfile(other, { ...stored, phoneTo: "nobody", pictureTo: "nobody" }, ways[0] as ProfileAccess);
  expect(own).toEqual({
    id: other,
    username: "Nadia",
    phone,
    avatar_url: "avatar",
    created_at: 1,
    handle: "nadia",
    verified: true,
  });
  for (const way of ways) expect(see(way, { phone: "none-abc" }).phone).toBe("");
});

test("a person who shows their number to nobody shows contacts as much as strangers", () => {
  for (const foundBy of searchMethods) {
    const shown = see({ state: "contact", foundBy }, { phoneInGroups: true, phoneTo: "nobody" });
    expect(shown.phone).toBe(see({ state: "none", foundBy }).phone);
  }
});

test.each(["everyone", "contacts", "nobody"] as const)("visibility of a picture for %s", (pictureTo) => {
  for (const { state, foundBy } of ways) {
    // The sender of a request shows it in common groups only.
    const byStrangers = pictureTo === "everyone" && (state !== "received" || foundBy === "group");
    const isVisible = state === "contact" ? pictureTo !== "nobody" : byStrangers;
    expect(see({ state, foundBy }, { pictureTo }).avatar_url).toBe(isVisible ? "avatar" : null);
  }
});

test("handle and verified mark are hidden from those who know an id and have no relation", () => {
  for (const way of ways) {
    const isHidden = way.state === "none" && way.foundBy === "id";
    expect([see(way).handle, see(way).verified]).toEqual(isHidden ? [undefined, undefined] : ["nadia", true]);
  }
});

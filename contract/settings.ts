import * as v from "valibot";

/** Notifications while the app is in the foreground: a sound, and message text on screen. */
const NotificationSettings = v.strictObject({ sound: v.boolean(), preview: v.boolean() });

export const findableBy = ["part", "whole", "nobody"] as const;
export type FindableBy = (typeof findableBy)[number];
export const groupAdders = ["contacts", "nobody"] as const;

/**
 * Settings of a person on all devices. Privacy settings are enforced by the server, the others by devices. A person who
 * hides receipts or presence does not see those of others.
 */
export const Settings = v.strictObject({
  /** Whether others see what this person has read. */
  receipts: v.boolean(),
  /** Whether contacts see the person's presence and last-seen time. */
  presence: v.boolean(),
  /** Whether calls hide the IP address from the peer's device, also for long-standing contacts (`IceServers.hide`). */
  hidesAddress: v.optional(v.boolean(), false), // missing in older copies
  /** Phone searches that find the person: by part of the number, by the whole number only, or none. */
  findable: v.picklist(findableBy),
  /**
   * Whether group members who are not contacts see the whole number instead of the country code and last two digits.
   */
  phoneInGroups: v.optional(v.boolean(), false), // missing in older copies, as is groupAdds
  /** People allowed to add the person to groups. */
  groupAdds: v.optional(v.picklist(groupAdders), "contacts"),
  messages: NotificationSettings,
  groups: NotificationSettings,
  calls: v.strictObject({ sound: v.boolean() }),
  /** Whether the status feed is shown. */
  tala: v.boolean(),
});
export type Settings = v.InferOutput<typeof Settings>;

export const defaultSettings: Settings = {
  receipts: true,
  presence: true,
  hidesAddress: false,
  findable: "part",
  phoneInGroups: false,
  groupAdds: "contacts",
  messages: { sound: true, preview: true },
  groups: { sound: true, preview: true },
  calls: { sound: true },
  tala: true,
};

/** Changed settings only. */
export const SettingsChange = v.strictObject({
  receipts: v.optional(v.boolean()),
  presence: v.optional(v.boolean()),
  hidesAddress: v.optional(v.boolean()),
  findable: v.optional(v.picklist(findableBy)),
  phoneInGroups: v.optional(v.boolean()),
  groupAdds: v.optional(v.picklist(groupAdders)),
  messages: v.optional(NotificationSettings),
  groups: v.optional(NotificationSettings),
  calls: v.optional(v.strictObject({ sound: v.boolean() })),
  tala: v.optional(v.boolean()),
});
export type SettingsChange = v.InferOutput<typeof SettingsChange>;

/** Settings with the number of changes. The copy with the higher version wins. */
export const VersionedSettings = v.strictObject({ version: v.number(), settings: Settings });
export type VersionedSettings = v.InferOutput<typeof VersionedSettings>;

/** Presence of a contact and their last-seen time; empty if either of the two hides it. */
export const Presence = v.object({ here: v.boolean(), seen_at: v.nullable(v.number()) });
export type Presence = v.InferOutput<typeof Presence>;

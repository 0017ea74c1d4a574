import * as v from "valibot";

/** What messages, groups and calls each may do on a device that is looked at: a sound, and words of them on the screen. */
const NotificationSettings = v.strictObject({ sound: v.boolean(), preview: v.boolean() });

export const findableBy = ["part", "whole", "nobody"] as const;
export type FindableBy = (typeof findableBy)[number];
export const groupAdders = ["contacts", "nobody"] as const;

/**
 * How a person wants things, on all their devices. What others may know of them is enforced by the server; a device only
 * follows the rest. Whoever does not let themselves be seen (receipts, presence) does not see others either.
 */
export const Settings = v.strictObject({
  /** Others see what I have read. */
  receipts: v.boolean(),
  /** Contacts see that I am here, or when I was last. */
  presence: v.boolean(),
  /** In a call the other one's device does not learn my address, also of those I have known for long (`IceServers.hide`). */
  hidesAddress: v.optional(v.boolean(), false), // copies of before do without
  /** Who looks for people finds me: by a part of my number, by the whole of it only, not at all. */
  findable: v.picklist(findableBy),
  /** Members of my groups who are not my contacts see my whole number, not only its country code and last two digits. */
  phoneInGroups: v.optional(v.boolean(), false), // copies of before do without, as of the next one
  /** People allowed to add me to groups. */
  groupAdds: v.optional(v.picklist(groupAdders), "contacts"),
  messages: NotificationSettings,
  groups: NotificationSettings,
  calls: v.strictObject({ sound: v.boolean() }),
  /** The feed of statuses is there for me. */
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

/** Only what changes. */
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

/** Settings and how often they were changed: of two the one with more knows better. */
export const VersionedSettings = v.strictObject({ version: v.number(), settings: Settings });
export type VersionedSettings = v.InferOutput<typeof VersionedSettings>;

/** Whether a contact is here, and when they last were; both unknown where one of the two does not let it be seen. */
export const Presence = v.object({ here: v.boolean(), seen_at: v.nullable(v.number()) });
export type Presence = v.InferOutput<typeof Presence>;

import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";
import { exceptionsMax } from "#contract/limits/people.ts";

/** Content of a message notification: name and text, the name of the person or group alone, or neither. */
export const previewLevels = ["text", "name", "nothing"] as const;
export type PreviewLevel = (typeof previewLevels)[number];

/** Level of an earlier setting, which was a boolean: with text or without. */
export const toPreviewLevel = (stored: PreviewLevel | boolean): PreviewLevel =>
  typeof stored === "boolean" ? (stored ? "text" : "name") : stored;

const StoredPreviewLevel = v.pipe(
  v.union([v.picklist(previewLevels), v.boolean()]),
  v.transform(toPreviewLevel),
  v.picklist(previewLevels),
);

/** Notifications of messages: a sound, and what they show. */
const NotificationSettings = v.strictObject({ sound: v.boolean(), preview: StoredPreviewLevel });

export const minutesPerDay = 1_440;

/** Whether this runtime knows the time in a zone. */
export const isKnownTimeZone = (name: string): boolean => {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
};

/** Whether this runtime knows a zone of the IANA database by this name. An offset such as "+05:30" is none. */
export const isTimeZone = (name: string): boolean => /^[A-Za-z]/.test(name) && isKnownTimeZone(name);

const MinuteOfDay = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(minutesPerDay - 1));

/**
 * Daily period without notifications: from one minute after midnight to another, exclusive, possibly of the next day,
 * in a time zone of the IANA database. Equal minutes mean the whole day.
 */
export const QuietHours = v.strictObject({
  isOn: v.boolean(),
  from: MinuteOfDay,
  to: MinuteOfDay,
  timeZone: v.pipe(v.string(), v.maxLength(64)), // a device may not know a zone that the server accepted
  allowsCalls: v.boolean(),
});
export type QuietHours = v.InferOutput<typeof QuietHours>;

/** Quiet hours as a device sets them. */
const NewQuietHours = v.strictObject({
  ...QuietHours.entries,
  timeZone: v.pipe(QuietHours.entries.timeZone, v.check(isTimeZone)),
});

/** Off; once turned on, from 22:00 to 7:00. The device that turns them on sends its time zone. */
export const defaultQuietHours: QuietHours = { isOn: false, from: 1_320, to: 420, timeZone: "UTC", allowsCalls: true };

export const findableBy = ["part", "whole", "nobody"] as const;
export type FindableBy = (typeof findableBy)[number];
/** Contacts who may reach somebody, or see something of theirs: all, all but `Settings.exceptions`, or none. */
export const contactAudiences = ["contacts", "contacts_except", "nobody"] as const;
/** People who may see something of somebody's. */
export const audiences = ["everyone", ...contactAudiences] as const;
export type Audience = (typeof audiences)[number];
export const requestSenders = ["everyone", "nobody"] as const;

const Excepted = v.optional(v.pipe(v.array(Uuid), v.maxLength(exceptionsMax)));

/**
 * Contacts to whom a setting does not apply, by setting: for them it is as for nobody while its value is
 * "contacts_except", and presence while it is shown. Statuses for contacts, also earlier ones, are for none of
 * `statusesTo`, whatever its value. Ids of people who are no contacts any more have no effect.
 */
export const Exceptions = v.strictObject({
  presence: Excepted,
  groupAdds: Excepted,
  callsFrom: Excepted,
  pictureTo: Excepted,
  phoneTo: Excepted,
  statusesTo: Excepted,
});
export type Exceptions = v.InferOutput<typeof Exceptions>;

/**
 * Settings of a person on all devices. Privacy settings are enforced by the server, the others by devices. A person who
 * hides receipts or presence does not see those of others.
 */
export const Settings = v.strictObject({
  /**
   * Whether others see what this person has read (worker/objects/conversation/messages/read-state.ts), and this person
   * what they have (worker/objects/user-channel/inbox/inbox-merge.ts).
   */
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
  groupAdds: v.optional(v.picklist(contactAudiences), "contacts"),
  /** People allowed to send contact requests. Missing in older copies, as are the three below. */
  requestsFrom: v.optional(v.picklist(requestSenders), "everyone"),
  /** People whose calls ring. Other calls get the answer of somebody who is busy. */
  callsFrom: v.optional(v.picklist(contactAudiences), "contacts"),
  /** People who see the picture. */
  pictureTo: v.optional(v.picklist(audiences), "everyone"),
  /** People who see the whole number, apart from those who typed it and `phoneInGroups`. */
  phoneTo: v.optional(v.picklist(contactAudiences), "contacts"),
  /** People who see new statuses, unless one names others. Missing in older copies, as are exceptions. */
  statusesTo: v.optional(v.picklist(audiences), "everyone"),
  /** Private: known to the person's own devices only. */
  exceptions: v.optional(Exceptions, {}),
  messages: NotificationSettings,
  groups: NotificationSettings,
  calls: v.strictObject({ sound: v.boolean() }),
  quietHours: v.optional(QuietHours, defaultQuietHours), // missing in older copies
  /** Whether the person is notified of reactions to their messages while the app is closed. */
  reactions: v.optional(v.boolean(), true), // missing in older copies
  /** Whether the status feed is shown. */
  tala: v.boolean(),
});
export type Settings = v.InferOutput<typeof Settings>;

/** Settings of people who never changed any: those of a new account, with the defaults of the schema. */
export const defaultSettings: Settings = v.parse(Settings, {
  receipts: true,
  presence: true,
  findable: "part",
  messages: { sound: true, preview: "text" },
  groups: { sound: true, preview: "text" },
  calls: { sound: true },
  tala: true,
});

/** Changed settings only. Of the exceptions, those of the named settings are replaced. */
export const SettingsChange = v.strictObject({
  receipts: v.optional(v.boolean()),
  presence: v.optional(v.boolean()),
  hidesAddress: v.optional(v.boolean()),
  findable: v.optional(v.picklist(findableBy)),
  phoneInGroups: v.optional(v.boolean()),
  groupAdds: v.optional(v.picklist(contactAudiences)),
  requestsFrom: v.optional(v.picklist(requestSenders)),
  callsFrom: v.optional(v.picklist(contactAudiences)),
  pictureTo: v.optional(v.picklist(audiences)),
  phoneTo: v.optional(v.picklist(contactAudiences)),
  statusesTo: v.optional(v.picklist(audiences)),
  exceptions: v.optional(Exceptions),
  messages: v.optional(NotificationSettings),
  groups: v.optional(NotificationSettings),
  calls: v.optional(v.strictObject({ sound: v.boolean() })),
  quietHours: v.optional(NewQuietHours),
  reactions: v.optional(v.boolean()),
  tala: v.optional(v.boolean()),
});
export type SettingsChange = v.InferOutput<typeof SettingsChange>;

/** Settings with the number of changes. The copy with the higher version wins. */
export const VersionedSettings = v.strictObject({ version: v.number(), settings: Settings });
export type VersionedSettings = v.InferOutput<typeof VersionedSettings>;

/** Presence of a contact and their last-seen time; empty if either of the two hides it. */
export const Presence = v.object({ here: v.boolean(), seen_at: v.nullable(v.number()) });
export type Presence = v.InferOutput<typeof Presence>;

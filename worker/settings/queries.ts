import { and, eq, lt, sql } from "drizzle-orm";
import * as v from "valibot";
import type { Uuid } from "#contract/ids.ts";
import { defaultSettings, Settings, type SettingsChange, type VersionedSettings } from "#contract/settings/settings.ts";
import type { Db } from "#worker/db/client.ts";
import { settings } from "#worker/db/schema.ts";
import { queueProfileChange } from "#worker/lib/contact-updates.ts";

const { messages, groups, calls, quietHours, reactions, exceptions: Exceptions } = Settings.entries;
const NoticeSettings = v.object({ messages, groups, calls, quietHours, reactions });

/** Settings of people who never changed any. */
const initialSettings: VersionedSettings = { version: 0, settings: defaultSettings };

const toVersionedSettings = (row: typeof settings.$inferSelect): VersionedSettings => {
  const { version, receipts, presence, hides_address: hidesAddress, findable, tala } = row;
  const { phone_in_groups: phoneInGroups, group_adds: groupAdds, requests_from: requestsFrom } = row;
  const { calls_from: callsFrom, picture_to: pictureTo, phone_to: phoneTo, statuses_to: statusesTo } = row;
  const notices = v.parse(NoticeSettings, JSON.parse(row.notices));
  const exceptions = v.parse(Exceptions, JSON.parse(row.exceptions));
  const privacy = { receipts, presence, hidesAddress, findable, phoneInGroups, phoneTo, pictureTo, exceptions };
  return { version, settings: { ...privacy, groupAdds, requestsFrom, callsFrom, statusesTo, ...notices, tala } };
};

export const getUserSettings = async (db: Db, me: Uuid): Promise<VersionedSettings> => {
  const row = await db.select().from(settings).where(eq(settings.user_id, me)).get();
  return row ? toVersionedSettings(row) : initialSettings;
};

/** Settings that the person's UserChannel has not confirmed. */
export const findUndeliveredSettings = async (db: Db, me: Uuid): Promise<VersionedSettings | undefined> => {
  const isUntold = and(eq(settings.user_id, me), lt(settings.told_version, settings.version));
  const row = await db.select().from(settings).where(isUntold).get();
  return row && toVersionedSettings(row);
};

/** Records that the UserChannel confirmed this version. */
export const markSettingsDelivered = async (db: Db, me: Uuid, version: number): Promise<void> => {
  await db
    .update(settings)
    .set({ told_version: version })
    .where(and(eq(settings.user_id, me), lt(settings.told_version, version)));
};

/** Whether contacts see another profile after this change. */
export const changesProfile = ({ pictureTo, phoneTo, exceptions }: SettingsChange): boolean =>
  [pictureTo, phoneTo, exceptions?.pictureTo, exceptions?.phoneTo].some((changed) => changed !== undefined);

const toNoticesJson = ({ messages, groups, calls, quietHours, reactions }: SettingsChange) =>
  JSON.stringify({ messages, groups, calls, quietHours, reactions });

/**
 * Changes only the given settings, so that concurrent changes of others are kept. Contacts are told of a change of what
 * they see of the profile.
 */
export const updateUserSettings = async (db: Db, me: Uuid, change: SettingsChange): Promise<VersionedSettings> => {
  const { receipts, presence, hidesAddress, findable, phoneInGroups, groupAdds, tala } = change;
  const { requestsFrom, callsFrom, pictureTo, phoneTo, statusesTo, exceptions } = change;
  const first = { ...defaultSettings, ...change };
  const write = db
    .insert(settings)
    .values({
      user_id: me,
      version: 1,
      receipts: first.receipts,
      presence: first.presence,
      hides_address: first.hidesAddress,
      findable: first.findable,
      phone_in_groups: first.phoneInGroups,
      group_adds: first.groupAdds,
      requests_from: first.requestsFrom,
      calls_from: first.callsFrom,
      picture_to: first.pictureTo,
      phone_to: first.phoneTo,
      statuses_to: first.statusesTo,
      exceptions: JSON.stringify(first.exceptions),
      notices: toNoticesJson(first),
      tala: first.tala,
    })
    .onConflictDoUpdate({
      target: settings.user_id,
      set: {
        version: sql`${settings.version} + 1`,
        ...(receipts === undefined ? {} : { receipts }),
        ...(presence === undefined ? {} : { presence }),
        ...(hidesAddress === undefined ? {} : { hides_address: hidesAddress }),
        ...(findable === undefined ? {} : { findable }),
        ...(phoneInGroups === undefined ? {} : { phone_in_groups: phoneInGroups }),
        ...(groupAdds === undefined ? {} : { group_adds: groupAdds }),
        ...(requestsFrom === undefined ? {} : { requests_from: requestsFrom }),
        ...(callsFrom === undefined ? {} : { calls_from: callsFrom }),
        ...(pictureTo === undefined ? {} : { picture_to: pictureTo }),
        ...(phoneTo === undefined ? {} : { phone_to: phoneTo }),
        ...(statusesTo === undefined ? {} : { statuses_to: statusesTo }),
        ...(exceptions === undefined
          ? {}
          : { exceptions: sql`json_patch(${settings.exceptions}, ${JSON.stringify(exceptions)})` }),
        notices: sql`json_patch(${settings.notices}, ${toNoticesJson(change)})`,
        ...(tala === undefined ? {} : { tala }),
      },
    })
    .returning();
  const [row] = changesProfile(change) ? (await db.batch([write, queueProfileChange(db, me)]))[0] : await write;
  if (!row) throw new Error("settings were not written");
  return toVersionedSettings(row);
};

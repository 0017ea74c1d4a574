import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { audiences, contactAudiences, type SettingsChange } from "#contract/settings/settings.ts";
import { seedPerson } from "#tests/worker/support/seeded-people.ts";
import { openDb } from "#worker/db/client.ts";
import { profiles, settings } from "#worker/db/schema.ts";
import { type AudienceSetting, selectAudienceFor, toAudienceFor } from "#worker/lib/exceptions.ts";
import { updateUserSettings } from "#worker/settings/queries.ts";

const audiencesOf = {
  callsFrom: contactAudiences,
  groupAdds: contactAudiences,
  phoneTo: contactAudiences,
  pictureTo: audiences,
  statusesTo: audiences,
} satisfies Record<AudienceSetting, readonly string[]>;
const names = Object.keys(audiencesOf) as AudienceSetting[];

test.each(names)("the audience of %s for one person is the same in the directory and in the channel", async (name) => {
  const db = openDb(env);
  const ana = await seedPerson();
  const [excepted, other] = [createUuid(), createUuid()];
  /** An exception from every other setting has no effect. */
  const elsewhere = Object.fromEntries(names.map((any) => [any, any === name ? [createUuid(), excepted] : [other]]));
  for (const value of audiencesOf[name]) {
    const change = { [name]: value, exceptions: elsewhere } as SettingsChange;
    const stored = (await updateUserSettings(db, ana.id, change)).settings;
    for (const person of [excepted, other]) {
      const isExcepted = value === "contacts_except" && person === excepted;
      const expected = isExcepted ? "nobody" : value === "contacts_except" ? "contacts" : value;
      const row = await db
        .select({ audience: selectAudienceFor(name, person) })
        .from(profiles)
        .leftJoin(settings, eq(settings.user_id, profiles.id))
        .where(eq(profiles.id, ana.id))
        .get();
      expect([toAudienceFor(stored, name, person), row?.audience]).toEqual([expected, expected]);
    }
  }
});

test("a person without settings has no audience in the directory", async () => {
  const ana = await seedPerson();
  const row = await openDb(env)
    .select({ audience: selectAudienceFor("pictureTo", createUuid()) })
    .from(profiles)
    .leftJoin(settings, eq(settings.user_id, profiles.id))
    .where(eq(profiles.id, ana.id))
    .get();
  expect(row).toEqual({ audience: null });
});

import { type SQL, sql } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import type { Audience, Exceptions, Settings } from "#contract/settings/settings.ts";
import { settings } from "#worker/db/schema.ts";

/**
 * People excepted from a setting ("contacts except…"). For them the setting is as for nobody; others see it as for
 * contacts. Every check asks for the audience of one person, so that no other code knows of exceptions.
 */

/** Setting whose value is an audience. */
export type AudienceSetting = Exclude<keyof Exceptions, "presence">;

/** Audience without exceptions. */
export type PlainAudience = Exclude<Audience, "contacts_except">;

/** Whether a person is excepted from a setting, whatever its value. */
export const isExcepted = ({ exceptions }: Pick<Settings, "exceptions">, name: keyof Exceptions, person: Uuid) =>
  exceptions[name]?.includes(person) === true;

/** Audience of a setting as it is for one person. */
export const toAudienceFor = (of: Settings, name: AudienceSetting, person: Uuid): PlainAudience => {
  const audience = of[name];
  if (audience !== "contacts_except") return audience;
  return isExcepted(of, name, person) ? "nobody" : "contacts";
};

const columns = {
  groupAdds: settings.group_adds,
  callsFrom: settings.calls_from,
  pictureTo: settings.picture_to,
  phoneTo: settings.phone_to,
  statusesTo: settings.statuses_to,
} as const satisfies Record<AudienceSetting, unknown>;

/** SQL: `isExcepted` for a row of `settings`; false if the row is missing in an outer join. */
export const selectIsExcepted = (name: keyof Exceptions, person: Uuid | SQL): SQL<number> =>
  sql<number>`ifnull(instr(json_extract(${settings.exceptions}, ${sql.raw(`'$.${name}'`)}), ${person}) > 0, 0)`;

/** SQL: `toAudienceFor` for a row of `settings`; null if the row is missing in an outer join. */
export const selectAudienceFor = <Name extends AudienceSetting>(name: Name, person: Uuid | SQL) =>
  sql<Exclude<Settings[Name], "contacts_except"> | null>`CASE ${columns[name]} WHEN 'contacts_except'
    THEN CASE WHEN ${selectIsExcepted(name, person)} THEN 'nobody' ELSE 'contacts' END ELSE ${columns[name]} END`;

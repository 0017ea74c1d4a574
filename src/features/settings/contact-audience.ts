import type { Exceptions, Settings } from "#contract/settings/settings.ts";

/** Audience of a setting that is turned on for contacts. Contacts excepted before are excepted again. */
export const toContactAudience = ({ exceptions }: Settings, name: keyof Exceptions) =>
  exceptions[name]?.length ? "contacts_except" : "contacts";

import type { Uuid } from "#contract/ids.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { toStoreName } from "./database.ts";

/** Removes everything of a person from localStorage, such as the journal of unsent data, whichever module wrote it. */
export const purgeJournal = ({ platform, me }: { platform: Pick<Platform, "localStorage">; me: Uuid }): void => {
  const { localStorage } = platform;
  const keys = Array.from({ length: localStorage?.length ?? 0 }, (_, index) => localStorage?.key(index) ?? "");
  for (const key of keys) if (key.startsWith(`${toStoreName(me)}-`)) localStorage?.removeItem(key);
};

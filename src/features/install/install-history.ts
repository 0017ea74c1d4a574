import * as v from "valibot";
import type { InstallHistory } from "./install-policy.ts";

const storageKey = "install";
const StoredHistory = v.object({ firstUsedAt: v.number(), answeredAt: v.optional(v.number()) });

const saveHistory = (history: InstallHistory): void => {
  try {
    localStorage.setItem(storageKey, JSON.stringify(history));
  } catch {
    // Storage is full or forbidden: the days of use are counted from the next visit.
  }
};

/** History of this device. The first call records the first use. */
export const readInstallHistory = (now: number): InstallHistory => {
  try {
    const parsed = v.safeParse(StoredHistory, JSON.parse(localStorage.getItem(storageKey) ?? "null"));
    if (parsed.success) return parsed.output;
  } catch {
    // As below.
  }
  const history = { firstUsedAt: now };
  saveHistory(history);
  return history;
};

/** Records that the person answered the question, whatever the answer. */
export const saveInstallAnswer = (now: number): void => saveHistory({ ...readInstallHistory(now), answeredAt: now });

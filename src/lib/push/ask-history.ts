import * as v from "valibot";
import { type AskHistory, recordAnswer } from "./ask-policy.ts";

const storageKey = "push-ask";
const StoredHistory = v.object({ count: v.number(), lastAt: v.number() });
const noHistory: AskHistory = { count: 0, lastAt: 0 };

export const readAskHistory = (): AskHistory => {
  try {
    const parsed = v.safeParse(StoredHistory, JSON.parse(localStorage.getItem(storageKey) ?? "null"));
    return parsed.success ? parsed.output : noHistory;
  } catch {
    return noHistory;
  }
};

/** Records that the person was asked and did not turn notifications on, or turned them off for good. */
export const saveAnswer = (isFinal: boolean): void => {
  try {
    localStorage.setItem(storageKey, JSON.stringify(recordAnswer(readAskHistory(), isFinal, Date.now())));
  } catch {
    // Storage is full or forbidden: the next visit may ask again.
  }
};

import * as v from "valibot";
import { oauthRegistrationSeconds } from "#contract/limits/authentication.ts";

/**
 * Registration after an OAuth sign-in without an account (`phone_needed`): the identity to send with the registration.
 * Stored per tab.
 */
const PendingRegistration = v.object({
  provider: v.string(),
  /** Display name at the provider. */
  name: v.nullable(v.string()),
  identity: v.object({ auth_code: v.string(), code_verifier: v.string() }),
  at: v.number(),
});
export type PendingRegistration = v.InferOutput<typeof PendingRegistration>;

const storageKey = "newcomer";

/** Throws if storage is full or forbidden. */
export const savePendingRegistration = (registration: Omit<PendingRegistration, "at">): void =>
  sessionStorage.setItem(storageKey, JSON.stringify({ ...registration, at: Date.now() } satisfies PendingRegistration));

export const findPendingRegistration = (): PendingRegistration | undefined => {
  try {
    const parsed = v.safeParse(PendingRegistration, JSON.parse(sessionStorage.getItem(storageKey) ?? "null"));
    const isFresh = parsed.success && Date.now() - parsed.output.at < oauthRegistrationSeconds * 1_000;
    return isFresh ? parsed.output : undefined;
  } catch {
    return undefined;
  }
};

export const clearPendingRegistration = (): void => {
  try {
    sessionStorage.removeItem(storageKey);
  } catch {
    // Storage is forbidden: nothing is saved.
  }
};

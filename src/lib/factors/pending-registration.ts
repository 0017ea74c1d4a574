import * as v from "valibot";
import { oauthRegistrationSeconds } from "#contract/limits.ts";

/** Whoever a provider knows and no account does yet (`phone_needed`): what the registration hands in. Of this tab alone. */
const Newcomer = v.object({
  provider: v.string(),
  /** What the provider calls them. */
  name: v.nullable(v.string()),
  identity: v.object({ auth_code: v.string(), code_verifier: v.string() }),
  at: v.number(),
});
export type Newcomer = v.InferOutput<typeof Newcomer>;

const storageKey = "newcomer";

/** Throws where storage is full or forbidden. */
export const keepNewcomer = (newcomer: Omit<Newcomer, "at">): void =>
  sessionStorage.setItem(storageKey, JSON.stringify({ ...newcomer, at: Date.now() } satisfies Newcomer));

export const findNewcomer = (): Newcomer | undefined => {
  try {
    const parsed = v.safeParse(Newcomer, JSON.parse(sessionStorage.getItem(storageKey) ?? "null"));
    const isFresh = parsed.success && Date.now() - parsed.output.at < oauthRegistrationSeconds * 1_000;
    return isFresh ? parsed.output : undefined;
  } catch {
    return undefined;
  }
};

export const forgetNewcomer = (): void => {
  try {
    sessionStorage.removeItem(storageKey);
  } catch {
    // Storage is forbidden: nothing is there.
  }
};

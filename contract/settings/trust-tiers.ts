import * as v from "valibot";
import { hourMs } from "#contract/limits/durations.ts";

/**
 * Trust tiers limit how many new people a person reaches, never how much they say to those they reached
 * (docs/decisions/trust-tiers.md). The network address plays no part: a whole mobile network shares one.
 */
const trustTiers = ["new", "confirmed", "known", "trusted"] as const;
export type TrustTier = (typeof trustTiers)[number];

/** Allowance of a tier. Null: no limit but those for everybody. */
type TierAllowance = {
  /** Contact requests a day that are not accepted. */
  requestsPerDay: number;
  /** Groups created a day. */
  groupsPerDay: number | null;
  /** Members of a group to which the person adds people. */
  groupMembersMax: number | null;
  /** Statuses published a day. */
  postsPerDay: number | null;
};

export const tierAllowances = {
  new: { requestsPerDay: 1, groupsPerDay: 2, groupMembersMax: 10, postsPerDay: 3 },
  confirmed: { requestsPerDay: 5, groupsPerDay: 5, groupMembersMax: 50, postsPerDay: 10 },
  known: { requestsPerDay: 20, groupsPerDay: null, groupMembersMax: null, postsPerDay: null },
  trusted: { requestsPerDay: 50, groupsPerDay: null, groupMembersMax: null, postsPerDay: null },
} as const satisfies Record<TrustTier, TierAllowance>;

/** Age of the account, and contacts that count, from which it has a tier. */
const tierConditions = [
  { tier: "trusted", ageHours: 14 * 24, contacts: 5 },
  { tier: "known", ageHours: 3 * 24, contacts: 2 },
] as const;

export const countedContactsMax = tierConditions[0].contacts;
/** Age of an account from which being its contact counts: accounts made today cannot vouch for each other. */
export const countedContactDays = 7;
/** Refusals of a day, and different people asked before who block, with which a person falls to the lowest tier. */
export const tierRefusalsMax = 5;
export const tierBlocksMax = 3;
export const tierBlockDays = 30;

/** Facts that decide the tier of a person. */
export type TrustFacts = {
  accountAgeMs: number;
  isVerified: boolean;
  /** Verified, but by contacts only. */
  isVouched: boolean;
  /** Their number can be verified here. */
  isVerifiable: boolean;
  /** Some numbers can be verified here. */
  isVerifying: boolean;
  /** Contacts that count, up to `countedContactsMax`. */
  contacts: number;
  refusals: number;
  blocks: number;
};

/**
 * Tier of a person. Where numbers can be verified, an unverified one keeps its holder in the lowest tier. Where none
 * can, nobody can do anything about it, and everybody begins in the second. A number of another country is no way
 * round: it costs nothing to invent, so that contacts alone raise its holder. A number that contacts vouched for costs
 * no SIM and keeps its holder in the second tier.
 */
export const toTrustTier = (facts: TrustFacts): TrustTier => {
  const { accountAgeMs, isVerified, isVouched, isVerifiable, isVerifying, contacts, refusals, blocks } = facts;
  if (refusals >= tierRefusalsMax || blocks >= tierBlocksMax) return "new";
  if (isVerifiable && !isVerified) return "new";
  if (isVerifiable && isVouched) return "confirmed";
  const reached = tierConditions.find(
    (condition) => accountAgeMs >= condition.ageHours * hourMs && contacts >= condition.contacts,
  );
  return reached?.tier ?? (isVerified || !isVerifying ? "confirmed" : "new");
};

const Limit = v.nullable(v.number());

/** Remaining allowance of a person for today. */
export const Allowance = v.object({
  tier: v.picklist(trustTiers),
  requests: v.object({ per_day: v.number(), left: v.number() }),
  groups_per_day: Limit,
  group_members_max: Limit,
  posts_per_day: Limit,
  /** Whether verifying the number would allow more. */
  can_verify: v.boolean(),
});
export type Allowance = v.InferOutput<typeof Allowance>;

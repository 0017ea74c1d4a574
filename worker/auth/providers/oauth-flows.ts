import { createHash } from "node:crypto";
import { eq } from "drizzle-orm";
import { oauthFlowSeconds } from "#contract/limits/authentication.ts";
import type { Db } from "#worker/db/client.ts";
import { oauth_flows } from "#worker/db/security-schema.ts";
import type { FlowSecrets } from "./provider-client.ts";

/** OAuth flows in progress. The browser holds only the state, which is stored hashed here. */
export type OauthFlow = typeof oauth_flows.$inferSelect;

const hashState = (state: string): string =>
  createHash("sha256").update(`lisolo oauth state ${state}`).digest("base64url");

export const insertOauthFlow = async (
  db: Db,
  { state, ...secrets }: FlowSecrets,
  flow: Omit<typeof oauth_flows.$inferInsert, keyof FlowSecrets | "expires_at">,
): Promise<void> => {
  await db
    .insert(oauth_flows)
    .values({ ...flow, ...secrets, state: hashState(state), expires_at: Date.now() + oauthFlowSeconds * 1_000 });
};

/** Deletes and returns the flow of a state. `isExpired`: the person came back too late. */
export const consumeOauthFlow = async (
  db: Db,
  state: string,
): Promise<(OauthFlow & { isOver: boolean }) | undefined> => {
  const flow = await db
    .delete(oauth_flows)
    .where(eq(oauth_flows.state, hashState(state)))
    .returning()
    .get();
  return flow && { ...flow, state, isOver: flow.expires_at <= Date.now() };
};

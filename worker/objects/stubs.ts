import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { ConversationRpc, UserChannelRpc } from "./rpc.ts";

/**
 * The objects by name, as `rpc.ts` describes them. A stub that failed stays broken, so every call and every
 * retry asks for a new one.
 */
export const getConversationStub = (env: Pick<Env, "CONVERSATION">, id: ConversationId): ConversationRpc =>
  env.CONVERSATION.getByName(id) as unknown as ConversationRpc;

export const getUserChannelStub = (env: Pick<Env, "USER_CHANNEL">, user: Uuid): UserChannelRpc =>
  env.USER_CHANNEL.getByName(user) as unknown as UserChannelRpc;

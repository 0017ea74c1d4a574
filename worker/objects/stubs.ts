import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { ConversationRpc, UserChannelRpc } from "./rpc.ts";

/** Stubs of the objects by name. A stub that failed stays broken, so each call and each retry needs a new one. */
export const getConversationStub = (env: Pick<Env, "CONVERSATION">, id: ConversationId): ConversationRpc =>
  env.CONVERSATION.getByName(id) as unknown as ConversationRpc;

export const getUserChannelStub = (env: Pick<Env, "USER_CHANNEL">, user: Uuid): UserChannelRpc =>
  env.USER_CHANNEL.getByName(user) as unknown as UserChannelRpc;

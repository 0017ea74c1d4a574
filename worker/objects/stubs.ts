import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { ConversationRpc } from "./rpc/conversation-rpc.ts";
import type { UserChannelRpc } from "./rpc/user-channel-rpc.ts";

/**
 * Stubs of the objects by name, which is all an object needs to know whose it is. A stub that failed stays broken, so
 * each call and each retry needs a new one.
 */
export const getConversationStub = (env: Pick<Env, "CONVERSATION">, id: ConversationId): ConversationRpc =>
  env.CONVERSATION.getByName(id);

export const getUserChannelStub = (env: Pick<Env, "USER_CHANNEL">, user: Uuid): UserChannelRpc => {
  const stub: Omit<UserChannelRpc, "execute"> = env.USER_CHANNEL.getByName(user);
  return stub as UserChannelRpc; // types of stubs lose the type parameter of `execute`
};

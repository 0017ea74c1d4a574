/**
 * Code that talks to the server: the connection of the leader tab, and commands that a person gives. It is one part of
 * the client, loaded once the first screen is drawn (scripts/build/chunks.mjs), so that later commands do not wait for
 * it.
 */
export {
  clearConversationHistory,
  deleteMessageByClientId,
  deleteMessageBySeq,
  runRelationCommand,
  setConversationMuted,
  setMessagePinned,
} from "#sync/commands/conversation-commands.ts";
export { changeConversationFlags } from "#sync/operations/conversation-flags.ts";
export { Leader } from "./leader.ts";

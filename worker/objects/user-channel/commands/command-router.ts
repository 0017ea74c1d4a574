import type { Uuid } from "#contract/ids.ts";
import type { Command, CommandResults, Refusal } from "#contract/wire/commands.ts";
import { logError } from "#worker/lib/log.ts";
import type { AccountDeletionJob } from "#worker/objects/user-channel/account-deletion.ts";
import type { CallCommands } from "#worker/objects/user-channel/calls/call-commands.ts";
import type { CallRegistry } from "#worker/objects/user-channel/calls/call-registry.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { PresenceTracker } from "#worker/objects/user-channel/presence/presence.ts";
import type { ConversationReader } from "./conversation-commands.ts";
import type { DraftCommands } from "./draft-commands.ts";
import type { FlagCommands } from "./flag-commands.ts";
import type { MessageDeletions } from "./message-deletions.ts";
import type { MessageEdits } from "./message-edits.ts";
import type { MessageFlagCommands } from "./message-flag-commands.ts";
import type { PinCommands } from "./pin-commands.ts";
import type { ReactionCommands } from "./reaction-commands.ts";
import type { ReceiptCommands } from "./receipt-commands.ts";
import type { SearchCommands } from "./search-commands.ts";
import type { MessageDispatcher } from "./send-messages.ts";

type CommandRouterPorts = {
  inbox: InboxFeed;
  dispatcher: MessageDispatcher;
  receipts: ReceiptCommands;
  flags: FlagCommands;
  messageFlags: MessageFlagCommands;
  drafts: DraftCommands;
  deletions: MessageDeletions;
  edits: MessageEdits;
  reactions: ReactionCommands;
  pins: PinCommands;
  reader: ConversationReader;
  search: SearchCommands;
  presence: PresenceTracker;
  calls: CallCommands;
  callRegistry: Pick<CallRegistry, "visibleCalls">;
  accountDeletion: Pick<AccountDeletionJob, "isGone">;
};

/** Routes a person's commands, from frames or HTTP, to the component that runs them. */
export class CommandRouter {
  readonly #ports: CommandRouterPorts;

  constructor(ports: CommandRouterPorts) {
    this.#ports = ports;
  }

  /**
   * Runs a command. Never throws: a failure is returned as a temporary refusal. `isWanted`: whether the client still
   * waits for the answer.
   */
  async run(
    command: Command,
    session?: Uuid,
    isWanted = () => true,
  ): Promise<CommandResults[Command["type"]] | Refusal> {
    if (this.#ports.accountDeletion.isGone) return { error: "account_deleted" };
    try {
      return await this.#dispatch(command, session, isWanted);
    } catch (error) {
      logError(`${command.type} failed`, error);
      return { error: "unavailable" };
    }
  }

  /** Changes after a cursor, with the open calls. */
  readChanges(session: Uuid | undefined, since: number, before?: number): CommandResults["changes"] {
    const { inbox, callRegistry } = this.#ports;
    return { ...inbox.readChanges(since, session, before), calls: callRegistry.visibleCalls };
  }

  async #dispatch(
    command: Command,
    session: Uuid | undefined,
    isWanted: () => boolean,
  ): Promise<CommandResults[Command["type"]] | Refusal> {
    const {
      dispatcher,
      receipts,
      flags,
      messageFlags,
      drafts,
      deletions,
      edits,
      reactions,
      pins,
      reader,
      search,
      presence,
      calls,
    } = this.#ports;
    switch (command.type) {
      case "send":
        return dispatcher.sendAndWait(command);
      case "multicast":
        return dispatcher.multicastAndWait(command);
      case "deleteForEveryone":
        return deletions.deleteForEveryone(command);
      case "deletePending":
        return deletions.deletePending(command);
      case "editMessage":
        return edits.editMessage(command);
      case "react":
        return reactions.react(command);
      case "pinMessage":
        return pins.pinMessage(command);
      case "mute":
        return receipts.setMute(command);
      case "setConversationFlags":
        return flags.setFlags(command);
      case "setMessageFlags":
        return messageFlags.setFlags(command);
      case "setDraft":
        return drafts.setDraft(command, session);
      case "mark":
        return receipts.updateReceipts(command);
      case "clearHistory":
        return receipts.clearHistory(command);
      case "page":
      case "revised":
        return reader.read(command);
      case "search":
        return search.searchConversation(command, isWanted);
      case "presence":
        return presence.queryPeer(command.conversation);
      case "changes":
        return reader.takeReadToken() ?? this.readChanges(session, command.since, command.before);
      case "dial":
      case "answer":
      case "hangUp":
      case "standing":
      case "beat":
      case "signal":
        return calls.runCommand(command, session);
      default:
        return command satisfies never;
    }
  }
}

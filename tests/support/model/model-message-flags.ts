import { hasContent } from "#contract/messages/kinds.ts";
import type { MessageFlags } from "#contract/settings/message-flags.ts";
import type { ChangeNumber, CommandOf, CommandResults, Refusal } from "#contract/wire/commands.ts";
import type { Log, LogMember } from "./model-log.ts";

/** Stars a message of the model, or deletes it for one member, as the server does. */
export const setModelMessageFlags = (
  log: Log,
  { clearedUpTo, messageFlags: flags }: LogMember,
  { seq, starred, deleted }: CommandOf<"setMessageFlags">,
  pushRow: () => ChangeNumber,
): CommandResults["setMessageFlags"] | Refusal => {
  const { revision } = flags;
  const message = seq > clearedUpTo ? log.messages[seq - 1] : undefined;
  if (starred === false && !deleted) {
    if (!flags.starred.delete(seq)) return { revision };
  } else {
    if (deleted ? flags.deleted.has(seq) : flags.starred.has(seq)) return { revision };
    if (!message || flags.deleted.has(seq) || (!deleted && !hasContent(message.body)))
      return { error: "message_not_found" };
    flags.starred.delete(seq);
    if (deleted) flags.deleted.add(seq);
    else flags.starred.set(seq, message.at);
  }
  flags.revision += 1;
  pushRow();
  return { revision: flags.revision };
};

/** Flags of the messages of one member, without those of deleted and cleared messages. */
export const listModelMessageFlags = (log: Log, { clearedUpTo, messageFlags }: LogMember): MessageFlags => ({
  revision: messageFlags.revision,
  starred: [...messageFlags.starred]
    .filter(([seq]) => seq > clearedUpTo && hasContent(log.messages[seq - 1]?.body ?? { type: "deleted" }))
    .map(([seq, at]) => ({ seq, at })),
  deleted: [...messageFlags.deleted].filter((seq) => seq > clearedUpTo),
});

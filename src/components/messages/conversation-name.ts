import { toDisplayName } from "#components/people/person-name.ts";
import type { GroupCard } from "#contract/groups.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Translate } from "#i18n/setup.ts";

type NamedConversation = {
  /** Undefined for a group. */
  peer: Uuid | undefined;
  group: GroupCard | null;
  person: { username: string; deleted?: 1 | undefined } | undefined;
};

/** Display name of a conversation: the group name or the name of the peer. */
export const getConversationName = ({ peer, group, person }: NamedConversation, t: Translate): string =>
  peer === undefined ? (group?.name ?? t("groups.chat.isGroup")) : toDisplayName(person, t);

/** Route of the chat of a conversation. */
export const toConversationPath = ({ id, peer }: { id: ConversationId; peer: Uuid | undefined }): string =>
  peer === undefined ? `/app/group/${id}` : `/app/chat/${peer}`;

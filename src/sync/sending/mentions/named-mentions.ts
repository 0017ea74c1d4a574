import { hasEnded } from "#contract/conversations.ts";
import { isGroupActionAllowed } from "#contract/groups.ts";
import type { ConversationId } from "#contract/ids.ts";
import { mentionsMax } from "#contract/limits/groups.ts";
import type { Body } from "#contract/messages/body.ts";
import { type Mention, withMentions } from "#contract/messages/mentions.ts";
import { syncMemberList } from "#sync/inbound/member-loader.ts";
import { asSyncError, isRetryableFailure } from "#sync/platform/sync-error.ts";
import type { LocalConversationRow } from "#sync/store/database.ts";
import { readMembers, readStoredMembersVersion } from "#sync/store/members.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { changeMessage } from "#sync/unsent/messages.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";

/** Words that mention everyone, in each language of the app. */
const everyoneNames = ["all", "todos", "tous"];

/** Name that can be mentioned; without a number it stands for everyone. */
type MentionableName = { name: string; number?: number | undefined };

/** Members chosen on this page for a name, by conversation and name. They tell people of the same name apart. */
const chosenMembers = new Map<string, number>();

const toChoiceKey = (conversation: ConversationId, name: string): string => `${conversation} ${name}`;

export const rememberMentionedMember = (conversation: ConversationId, name: string, number: number): void =>
  void chosenMembers.set(toChoiceKey(conversation, name), number);

const wordStart = /^[\p{L}\p{N}\p{M}_]/u;

/** Mentions in a text: an "@" that does not follow a word, with the longest of these names as whole words. */
export const findNamedMentions = (text: string, names: readonly MentionableName[]): Mention[] => {
  const longestFirst = [...names].sort((a, b) => b.name.length - a.name.length);
  const mentions: Mention[] = [];
  // Browsers of older phones lack lookbehind: the preceding character is part of the match.
  for (const { index, 1: before = "" } of text.matchAll(/(^|[^\p{L}\p{N}\p{M}_.@-])@/gu)) {
    const offset = index + before.length;
    const rest = text.slice(offset + 1);
    const isNamed = ({ name }: MentionableName) => rest.startsWith(name) && !wordStart.test(rest.slice(name.length));
    const found = longestFirst.find(isNamed);
    if (found) {
      const length = found.name.length + 1;
      mentions.push(found.number === undefined ? [offset, length] : [offset, length, found.number]);
    }
  }
  return mentions.slice(0, mentionsMax);
};

const withNamedMentions = async (
  { store, me }: Pick<SyncContext, "store" | "me">,
  { id, group }: LocalConversationRow,
  body: Body,
): Promise<Body> => {
  if (!("text" in body)) return body;
  const names = new Map<string, number | undefined>();
  const { members } = await readMembers(store, me, id);
  const others = members.filter(({ user, username }) => user !== me && username !== "");
  for (const { username: name, number } of others) {
    const isUnique = others.filter(({ username }) => username === name).length === 1;
    if (isUnique || chosenMembers.get(toChoiceKey(id, name)) === number) names.set(name, number);
  }
  // Also if a member has such a name.
  if (group && isGroupActionAllowed(group.role, "mentionEveryone"))
    for (const name of everyoneNames) names.set(name, undefined);
  return withMentions(
    body,
    findNamedMentions(
      body.text ?? "",
      Array.from(names, ([name, number]) => ({ name, number })),
    ),
  );
};

/**
 * The body with the mentions of members that its text names; undefined while this device does not have the group's
 * current member list. Of several members with the same name, the one chosen in this page is mentioned, and none if
 * there is no choice.
 */
export const resolveMentions = (
  context: Pick<SyncContext, "store" | "me">,
  conversation: ConversationId,
  body: Body,
): Promise<{ body: Body } | undefined> => {
  const { store } = context;
  return store.transaction("r", [store.conversations, store.members, store.people, store.meta], async () => {
    const row = await store.conversations.get(conversation);
    if (row && hasEnded(row)) return { body };
    if (!row?.group || (await readStoredMembersVersion(store, conversation)) < row.group.roster) return undefined;
    return { body: await withNamedMentions(context, row, body) };
  });
};

/**
 * Finds the mentions of an unsent message that was written without the member list, which is fetched first. If the
 * group refuses it, the message stays without mentions. Rejects with a SyncError if it has to be tried again.
 */
export const resolveUnsentMentions = async (
  context: SyncContext,
  { cid, conversation }: Pick<OutboxRow, "cid" | "conversation">,
): Promise<void> => {
  await syncMemberList(context, conversation).catch((error: unknown) => {
    if (isRetryableFailure(asSyncError(error))) throw error;
  });
  const { store, unsent, platform } = context;
  const row = unsent.find("outbox", cid);
  if (!row?.mayMention) return; // withdrawn
  const body = await store.transaction(
    "r",
    [store.conversations, store.members, store.people, store.meta],
    async () => {
      const group = await store.conversations.get(conversation);
      return group ? withNamedMentions(context, group, row.body) : row.body;
    },
  );
  const found = changeMessage(cid, platform.now(), (now) => ({ ...now, body, mayMention: undefined }));
  await unsent.changeAll([found]).catch(() => undefined);
};

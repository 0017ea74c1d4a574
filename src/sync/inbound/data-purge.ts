import { type ConversationId, privateConversationId, type Uuid } from "#contract/ids.ts";
import {
  type LocalConversationRow,
  type LocalMessageRow,
  type LocalStore,
  toMembersVersionKey,
} from "#sync/store/database.ts";
import { toStarsKey } from "#sync/store/message-flags.ts";
import { failUnsentMessages, isAwaitingUpload, type UnsentTransaction } from "#sync/store/unsent-messages.ts";

/** Purge of local data that must not stay: of a group without history, and of a deleted account. */

/** Transaction in which data is purged. It collects the files and pictures to delete after it. */
type PurgeTransaction = UnsentTransaction & {
  readonly me: Uuid;
  readonly orphanedPictureOwners: Set<Uuid>;
  collectOrphanedFile(message: Pick<LocalMessageRow, "body">): void;
};

/**
 * Ends what this device does for a group that this person left: files are not uploaded any more, and the member list is
 * no longer kept up to date. The history and the known names stay.
 */
export const closeLeftGroup = async (transaction: UnsentTransaction, row: LocalConversationRow): Promise<void> => {
  failUnsentMessages(transaction, row.id, isAwaitingUpload);
  await transaction.store.meta.delete(toMembersVersionKey(row.id));
  Object.assign(row, { wantDelivered: 0, wantRead: 0, delivered: row.head, read: row.head });
  row.revisedOnLeaving = row.revised;
};

/**
 * Reopens a group that this person joined again. The stored messages may lack changes that former members do not
 * receive; a device that does not know since when fetches all.
 */
export const reopenGroup = (row: LocalConversationRow): void => {
  row.revised = Math.min(row.revised, row.revisedOnLeaving ?? 0);
  delete row.revisedOnLeaving;
};

/** Purges a group that ended or whose history this person deleted: everything but unsent content is deleted. */
export const purgeLeftGroup = async (transaction: PurgeTransaction, row: LocalConversationRow): Promise<void> => {
  const { store } = transaction;
  await store.queryMessages(row.id, 0).each((message) => transaction.collectOrphanedFile(message));
  await store.queryMessages(row.id, 0).delete();
  await store.meta.delete(toStarsKey(row.id));
  await collectOrphanedPictures(transaction, row.id);
  await deleteMembers(store, row.id);
  failUnsentMessages(transaction, row.id, isAwaitingUpload);
  const { head } = row;
  Object.assign(row, {
    storedFrom: head + 1,
    storedTo: head,
    hidden: head,
    unreadCountedUpTo: head,
    unread: 0,
    preview: null,
  });
  Object.assign(row, { wantDelivered: 0, wantRead: 0, delivered: head, read: head });
};

/** Collects the pictures of the group and of those members who are known from this group only. */
const collectOrphanedPictures = async (
  { store, me, orphanedPictureOwners }: PurgeTransaction,
  group: ConversationId,
): Promise<void> => {
  orphanedPictureOwners.add(group);
  const members = await store.queryMembers(group).toArray();
  const users = members.flatMap(({ user, avatar }) => (avatar === null ? [] : user));
  const people = await store.people.bulkGet(users);
  const memberships = await store.members.where("user").anyOf(users).toArray();
  const elsewhere = new Set(memberships.flatMap(({ conversation, user }) => (conversation === group ? [] : user)));
  for (const [index, user] of users.entries()) {
    const isKnown = user === me || elsewhere.has(user) || (people[index]?.state ?? "none") !== "none";
    if (!isKnown) orphanedPictureOwners.add(user);
  }
};

/**
 * Removes name and picture of a deleted account, also from group members. Files waiting to be sent to this person are
 * not uploaded.
 */
export const purgeDeletedPerson = async (transaction: PurgeTransaction, user: Uuid): Promise<void> => {
  const { store, me, orphanedPictureOwners } = transaction;
  orphanedPictureOwners.add(user);
  await store.members.where("user").equals(user).modify({ user: "", username: "", phone: "", avatar: null });
  failUnsentMessages(transaction, privateConversationId(me, user), isAwaitingUpload, "not_connected");
};

export const deleteMembers = async (store: LocalStore, group: ConversationId): Promise<void> => {
  await store.queryMembers(group).delete();
  await store.meta.delete(toMembersVersionKey(group));
};

import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";

const purgeBatchMessages = 300; // messages: one alarm must be able to release the file of each

/** Deletes one batch of messages of a conversation without readers and queues their files for release. */
export const purgeMessages = (log: ConversationLog): void => {
  if (!log.hasNoReaders) return;
  const [last] = log.sql
    .exec<{ seq: number }>("SELECT seq FROM messages ORDER BY seq LIMIT 1 OFFSET ?", purgeBatchMessages - 1)
    .toArray();
  const upTo = last?.seq ?? log.head;
  log.sql.exec(
    `INSERT OR IGNORE INTO releases (cid, file)
     SELECT messages.cid, attachments.file FROM attachments JOIN messages USING (seq) WHERE attachments.seq <= ?`,
    upTo,
  );
  log.sql.exec("DELETE FROM attachments WHERE seq <= ?", upTo);
  log.sql.exec("DELETE FROM earlier_texts WHERE seq <= ?", upTo);
  log.sql.exec("DELETE FROM mentions WHERE seq <= ?", upTo);
  log.sql.exec("DELETE FROM reactions WHERE seq <= ?", upTo);
  log.setPinned(null);
  log.messages.searchIndex.drop();
  log.sql.exec("DELETE FROM messages WHERE seq <= ?", upTo);
  log.messages.invalidateCache();
  log.reactions.clearCache();
};

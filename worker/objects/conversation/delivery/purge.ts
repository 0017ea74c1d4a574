import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";

const purgeBatchMessages = 300; // messages: releasing the file of each has to fit into what one alarm may ask of others

/** Takes out what was written where nobody is left to read it, a piece at a time; the files it named are released. */
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
  log.sql.exec("DELETE FROM messages WHERE seq <= ?", upTo);
  log.messages.invalidateCache();
};

import { Buffer } from "node:buffer";
import { deletedUserId } from "#contract/ids.ts";
import { messagePageRows } from "#contract/limits/conversations.ts";
import type { CommandOf, RevisedResult } from "#contract/wire/commands.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import type { MessageRecord } from "#worker/objects/conversation/log/message-table.ts";
import type { ConversationNotice } from "#worker/objects/rpc/notices.ts";
import { findLastVisibleRevision } from "./former-view.ts";
import { toVisibleMessages } from "./visible-messages.ts";

const pushedMax = 20; // changed messages in a notice; devices request the rest
const pushedMaxBytes = 16 * 1024;
const pageMaxBytes = 64 * 1024;
const scannedMax = 4_000; // revisions in a page: a message may have many reactions

/** Part of a forward without the name of its author. Quotes inside JSON strings are escaped, so no text contains it. */
const anonymizedMark = `"by":"${deletedUserId}"`;

/** Changed message; `changed` is the revision of the last change of the message or of its reactions. */
type RevisedRecord = MessageRecord & { changed: number };

/**
 * Rows changed after a revision, up to another one, in order of their last change, as the member sees them. Recipients
 * see no changes of undelivered messages. Of the changes after they left, former members learn only of deletions and
 * removed names of deleted accounts. A message that was edited before they left is listed by that edit, so that they
 * cannot learn whether it was edited again.
 */
const listRevisedRows = (
  log: ConversationLog,
  member: Member,
  { since, upTo, limit }: { since: number; upTo: number; limit: number },
): RevisedRecord[] => {
  const ranges = log.listVisibleRanges(member);
  const last = findLastVisibleRevision(member);
  return log.sql
    .exec<RevisedRecord>(
      `SELECT messages.*, max(changed) AS changed FROM (
         SELECT seq, CASE WHEN revision <= ?2 AND (revision <= ?3 OR kind = 'deleted' OR instr(body, ?4) > 0) THEN revision
           ELSE (SELECT max(revision) FROM earlier_texts
             WHERE earlier_texts.seq = messages.seq AND revision > ?1 AND revision <= min(?2, ?3)) END AS changed
           FROM messages WHERE revision > 0 AND revision > ?1 AND (revision <= ?2 OR revision > ?3)
         UNION ALL SELECT value ->> 'seq', value ->> 'revision' FROM json_each(?5)
       ) JOIN messages USING (seq)
       WHERE changed IS NOT NULL
         AND EXISTS (SELECT 1 FROM json_each(?6) WHERE seq BETWEEN value ->> 0 AND value ->> 1)
         AND (withheld = 0 OR sender = ?7)
       GROUP BY seq ORDER BY changed LIMIT ?8`,
      since,
      upTo,
      last,
      anonymizedMark,
      JSON.stringify(log.reactions.listChanges(since, Math.min(upTo, last))),
      JSON.stringify(ranges),
      member.number,
      limit,
    )
    .toArray();
};

const bytesOfRow = (row: MessageRecord): number => Buffer.byteLength(row.body);

/** Page of changed messages. On the last page `revision` is that of the log. */
export const readRevisionsPage = (log: ConversationLog, member: Member, query: CommandOf<"revised">): RevisedResult => {
  const { since } = query;
  const upTo = Math.min(log.revision, since + scannedMax);
  const found = listRevisedRows(log, member, { since, upTo, limit: messagePageRows + 1 });
  let bytes = 0;
  const page = found.slice(0, messagePageRows).filter((row, index) => {
    bytes += bytesOfRow(row);
    return index === 0 || bytes <= pageMaxBytes;
  });
  const isCut = page.length < found.length;
  const revision = isCut ? (page.at(-1)?.changed ?? upTo) : Math.max(upTo, since);
  const more = isCut || upTo < log.revision;
  return {
    epoch: log.epoch,
    revision: more ? revision : log.revision,
    messages: toVisibleMessages(log, member, page),
    more,
  };
};

/**
 * Messages changed after a revision, or nothing if there are too many to push. If only their reactions changed, just
 * these.
 */
export const readPushableRevisions = (
  log: ConversationLog,
  member: Member,
  since: number,
): Pick<ConversationNotice, "revised"> => {
  if (since >= log.revision || log.revision - since > scannedMax) return {};
  const found = listRevisedRows(log, member, { since, upTo: log.revision, limit: pushedMax + 1 });
  const bytes = found.reduce((sum, row) => sum + bytesOfRow(row), 0);
  if (found.length > pushedMax || bytes > pushedMaxBytes) return {};
  // Each row is there for a change: if it is none of the message, it is one of its reactions.
  const isReactedTo = ({ sender, revision, changed }: RevisedRecord) => sender === member.number && changed > revision;
  const own = found.some(isReactedTo) ? ({ hasReactionsToOwn: true } as const) : {};
  if (found.length === 0 || found.some((row) => row.revision > since))
    return { revised: { since, messages: toVisibleMessages(log, member, found), ...own } };
  const summaries = log.reactions.summarize(
    found.map(({ seq }) => seq),
    member.number,
    findLastVisibleRevision(member),
  );
  return {
    revised: {
      since,
      messages: [],
      reactions: found.map(({ seq }) => ({ seq, summary: summaries.get(seq) ?? "" })),
      ...own,
    },
  };
};

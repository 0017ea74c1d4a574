import logTables from "#migrations/conversation/0001_log.sql?raw";
import callRing from "#migrations/conversation/0002_call_ring.sql?raw";
import mentionTable from "#migrations/conversation/0003_mentions.sql?raw";
import earlierTexts from "#migrations/conversation/0004_earlier_texts.sql?raw";
import reactionTable from "#migrations/conversation/0005_reactions.sql?raw";
import searchTerms from "#migrations/conversation/0006_search_terms.sql?raw";
import receiptMarks from "#migrations/conversation/0007_receipt_marks.sql?raw";
import keptHistory from "#migrations/conversation/0008_kept_history.sql?raw";
import pinnedMessages from "#migrations/conversation/0009_pinned_messages.sql?raw";
import editRevisions from "#migrations/conversation/0010_edit_revisions.sql?raw";
import invitationTable from "#migrations/conversation/0011_invitations.sql?raw";

/** Migrations of a Conversation's database, in order. */
export const conversationMigrations = [
  logTables,
  callRing,
  mentionTable,
  earlierTexts,
  reactionTable,
  searchTerms,
  receiptMarks,
  keptHistory,
  pinnedMessages,
  editRevisions,
  invitationTable,
];

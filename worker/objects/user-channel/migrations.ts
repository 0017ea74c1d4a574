import inboxTables from "#migrations/user-channel/0001_inbox.sql?raw";
import pushSubscriptionTable from "#migrations/user-channel/0002_push_subscriptions.sql?raw";
import pushMarkTable from "#migrations/user-channel/0003_push_marks.sql?raw";
import pushRingTable from "#migrations/user-channel/0004_push_rings.sql?raw";
import timedMutes from "#migrations/user-channel/0005_timed_mutes.sql?raw";
import mentions from "#migrations/user-channel/0006_mentions.sql?raw";
import pushMarksInInbox from "#migrations/user-channel/0007_push_marks_in_inbox.sql?raw";
import missedCalls from "#migrations/user-channel/0008_missed_calls.sql?raw";
import conversationFlags from "#migrations/user-channel/0009_conversation_flags.sql?raw";
import messageFlags from "#migrations/user-channel/0010_message_flags.sql?raw";
import drafts from "#migrations/user-channel/0011_drafts.sql?raw";
import pinnedMessages from "#migrations/user-channel/0012_pinned_messages.sql?raw";

/** Migrations of a UserChannel's database, in order. */
export const userChannelMigrations = [
  inboxTables,
  pushSubscriptionTable,
  pushMarkTable,
  pushRingTable,
  timedMutes,
  mentions,
  pushMarksInInbox,
  missedCalls,
  conversationFlags,
  messageFlags,
  drafts,
  pinnedMessages,
];

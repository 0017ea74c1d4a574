import logTables from "#migrations/conversation/0001_log.sql?raw";

/** Migrations of a Conversation's database, in order. */
export const conversationMigrations = [logTables];

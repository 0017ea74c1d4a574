import inboxTables from "#migrations/user-channel/0001_inbox.sql?raw";

/** Migrations of a UserChannel's database, in order. */
export const userChannelMigrations = [inboxTables];

-- Flags of a conversation in its person's list: marked as unread, archived, and when it was pinned (null if it is not). The
-- last two columns are numbers of the row's changes: the last time the person read it, and the last arrival of a message
-- that ends an archiving.
ALTER TABLE inbox ADD COLUMN marked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE inbox ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
ALTER TABLE inbox ADD COLUMN pinned_at INTEGER;
ALTER TABLE inbox ADD COLUMN last_read_change INTEGER NOT NULL DEFAULT 0;
ALTER TABLE inbox ADD COLUMN last_arrival_change INTEGER NOT NULL DEFAULT 0;
-- Few rows, and no entry for the others: a message to a conversation without these flags writes neither index.
CREATE INDEX inbox_archived ON inbox (archived) WHERE archived = 1;
CREATE INDEX inbox_pinned ON inbox (pinned_at) WHERE pinned_at IS NOT NULL;

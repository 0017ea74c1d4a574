-- `revision` counts the changes to messages that had been stored; a message has the number of its last one.
ALTER TABLE conversation ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
CREATE INDEX messages_by_revision ON messages (revision) WHERE revision > 0;

-- 1 when a message was withheld from the other member, 2 once its author was told so.
ALTER TABLE messages ADD COLUMN withheld INTEGER NOT NULL DEFAULT 0;
CREATE INDEX messages_by_withheld ON messages (sender) WHERE withheld = 1;

-- A member who `blocks` lets nothing of the other through. `ends` is the newest place they see when that is not the
-- head; `shown_…` are their marks as the other sees them while these stand still.
ALTER TABLE members ADD COLUMN blocks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE members ADD COLUMN ends INTEGER;
ALTER TABLE members ADD COLUMN shown_delivered INTEGER;
ALTER TABLE members ADD COLUMN shown_read INTEGER;

-- Which messages name which file; those that were deleted name none.
CREATE TABLE attachments (
  file TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (file, seq)
) WITHOUT ROWID;

-- Files that deleted messages named and the directory has still to hear of.
CREATE TABLE releases (
  cid TEXT NOT NULL,
  file TEXT NOT NULL,
  PRIMARY KEY (cid, file)
) WITHOUT ROWID;

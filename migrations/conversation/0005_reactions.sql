-- Reactions of members to messages, at most one of each member; `emoji` is null once it was removed. `revision`: number of
-- the last change, in the same sequence as that of messages. `withheld`: 1 if the other member blocked this one, so that
-- only this one sees it.
CREATE TABLE reactions (
  seq INTEGER NOT NULL,
  member INTEGER NOT NULL,
  emoji TEXT,
  revision INTEGER NOT NULL,
  withheld INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (seq, member)
) WITHOUT ROWID;
CREATE INDEX reactions_by_revision ON reactions (revision);

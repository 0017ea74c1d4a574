-- Flags of single messages, private to the person: when it was starred (null if it is not), and whether the person deleted it
-- for themselves. A message without flags has no row.
CREATE TABLE message_flags (
  handle INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  starred_at INTEGER,
  deleted INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (handle, seq)
) WITHOUT ROWID;
-- Number of the row's last change of such flags, 0 without any.
ALTER TABLE inbox ADD COLUMN flags_revision INTEGER NOT NULL DEFAULT 0;

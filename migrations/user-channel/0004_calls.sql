-- The call of a conversation as it was told last, and by which version; null once it is over.
CREATE TABLE calls (
  conversation TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  call TEXT
) WITHOUT ROWID;
CREATE INDEX calls_open ON calls (conversation) WHERE call IS NOT NULL;

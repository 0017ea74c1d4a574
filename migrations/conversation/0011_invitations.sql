-- Invitations to a group that were neither accepted nor withdrawn, with the time of each.
CREATE TABLE invitations (
  user_id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  declined INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

-- The call under way, or the last one as it ended (`over` is then the body of its line): at most one row. Beside it in
-- `conversation`, how often it changed. `withheld`: whom it was for let nothing of the caller through. `heard_at` is when a
-- side of it was last heard of, up to a while behind.
CREATE TABLE calls (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  caller INTEGER NOT NULL,
  caller_device TEXT NOT NULL,
  callee_device TEXT,
  created_at INTEGER NOT NULL,
  answered_at INTEGER,
  over TEXT,
  withheld INTEGER NOT NULL,
  heard_at INTEGER NOT NULL
) WITHOUT ROWID;
ALTER TABLE conversation ADD COLUMN calls INTEGER NOT NULL DEFAULT 0;

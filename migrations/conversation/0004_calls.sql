-- The call under way, or the last one as it ended (`over` is then the body of its line): at most one row. Beside it in
-- `conversation`, how often it changed.
CREATE TABLE calls (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  caller INTEGER NOT NULL,
  caller_device TEXT NOT NULL,
  callee_device TEXT,
  created_at INTEGER NOT NULL,
  answered_at INTEGER,
  over TEXT
) WITHOUT ROWID;
ALTER TABLE conversation ADD COLUMN calls INTEGER NOT NULL DEFAULT 0;

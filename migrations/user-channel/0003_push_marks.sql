-- What devices were notified of: by session the seq of the newest message of the conversation (JSON), the time of the
-- last push, and of the last one that made itself heard.
CREATE TABLE push_marks (
  conversation TEXT PRIMARY KEY,
  epoch TEXT NOT NULL,
  heads TEXT NOT NULL,
  pushed_at INTEGER NOT NULL,
  sounded_at INTEGER NOT NULL
) WITHOUT ROWID;

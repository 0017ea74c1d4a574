CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- `bucket` is `changed` divided by the bucket size: an index on it finds what changed lately, and most updates
-- of a row leave it as it is and so write no index.
CREATE TABLE inbox (
  handle INTEGER PRIMARY KEY,
  conversation TEXT NOT NULL UNIQUE,
  changed INTEGER NOT NULL,
  bucket INTEGER NOT NULL,
  epoch TEXT NOT NULL,
  head INTEGER NOT NULL,
  at INTEGER NOT NULL,
  sender INTEGER NOT NULL,
  preview TEXT,
  whole INTEGER NOT NULL,
  unread INTEGER NOT NULL,
  counted INTEGER NOT NULL,
  delivered INTEGER NOT NULL,
  read INTEGER NOT NULL,
  others_delivered INTEGER NOT NULL,
  others_read INTEGER NOT NULL,
  hidden INTEGER NOT NULL,
  open INTEGER NOT NULL,
  turn INTEGER NOT NULL
);
CREATE INDEX inbox_by_bucket ON inbox (bucket);

CREATE TABLE people (
  number INTEGER PRIMARY KEY,
  user_id TEXT NOT NULL UNIQUE,
  changed INTEGER NOT NULL,
  bucket INTEGER NOT NULL,
  relation TEXT NOT NULL
);
CREATE INDEX people_by_bucket ON people (bucket);

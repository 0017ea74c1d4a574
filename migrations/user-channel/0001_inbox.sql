CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- `bucket` is `changed` divided by the bucket size: an index on it finds recent changes, and most updates of a row leave
-- it as it is and so write no index. `card` is the group's name, picture, size, members version and own role as JSON.
-- `gone` is 1 once the person is no longer a member.
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
  turn INTEGER NOT NULL,
  muted INTEGER NOT NULL DEFAULT 0,
  kept INTEGER NOT NULL DEFAULT 0,
  revision INTEGER NOT NULL DEFAULT 0,
  card TEXT,
  gone INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX inbox_by_bucket ON inbox (bucket);
CREATE INDEX inbox_muted ON inbox (handle) WHERE muted = 1;

CREATE TABLE people (
  number INTEGER PRIMARY KEY,
  user_id TEXT NOT NULL UNIQUE,
  changed INTEGER NOT NULL,
  bucket INTEGER NOT NULL,
  relation TEXT NOT NULL
);
CREATE INDEX people_by_bucket ON people (bucket);

-- Last reported call of a conversation with its version, null once it is over.
CREATE TABLE calls (
  conversation TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  call TEXT
) WITHOUT ROWID;
CREATE INDEX calls_open ON calls (conversation) WHERE call IS NOT NULL;

-- Level of the dial limit, one row, none before the first call.
CREATE TABLE dials (
  id INTEGER PRIMARY KEY,
  tokens REAL NOT NULL,
  at INTEGER NOT NULL
);

-- One row. `connection` is the one that lets the members write, null when there is none; `turn` counts how often
-- that changed.
CREATE TABLE conversation (
  id TEXT PRIMARY KEY,
  epoch TEXT NOT NULL,
  began INTEGER NOT NULL,
  connection TEXT,
  turn INTEGER NOT NULL
);

-- A private conversation's members are 0 and 1, in the order of its id.
CREATE TABLE members (
  number INTEGER PRIMARY KEY,
  user_id TEXT NOT NULL UNIQUE,
  delivered INTEGER NOT NULL DEFAULT 0,
  read INTEGER NOT NULL DEFAULT 0,
  hidden INTEGER NOT NULL DEFAULT 0
);

-- `seq` is 1, 2, 3 … without holes: no row is ever deleted. `body` is the text itself for kind 'text', else JSON.
CREATE TABLE messages (
  seq INTEGER PRIMARY KEY,
  sender INTEGER NOT NULL,
  cid TEXT NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (sender, cid)
);

-- Connections that ended: none of them opens the conversation again.
CREATE TABLE closed_connections (
  id TEXT PRIMARY KEY
) WITHOUT ROWID;

-- One row. `connection` lets the members of a private conversation write, null if there is none. `turn` counts how often
-- writing was enabled or disabled. `revision` counts the changes to stored messages. `name` and `picture` are null in a
-- private conversation. `roster` is the members version. Once `ended` is 1 the group has no members and is purged in
-- batches. `calls` is the version of the call.
CREATE TABLE conversation (
  id TEXT PRIMARY KEY,
  epoch TEXT NOT NULL,
  began INTEGER NOT NULL,
  connection TEXT,
  turn INTEGER NOT NULL,
  revision INTEGER NOT NULL DEFAULT 0,
  name TEXT,
  picture TEXT,
  roster INTEGER NOT NULL DEFAULT 0,
  ended INTEGER NOT NULL DEFAULT 0,
  calls INTEGER NOT NULL DEFAULT 0
);

-- The members of a private conversation are 0 and 1, in the order of its id. Member numbers are never reused.
-- `blocks`: the member blocks the peer. `ends`: newest seq the member sees if that is not the head. `shown_…`: read state
-- shown to the others if it differs from the real one. `hides`: 1 after a read that the others must not see.
-- `state` is 'in', 'quiet' (hidden member), 'leaving' (left, not confirmed by their channel), 'quietLeaving' (both) or 'out'.
-- `joined` is the head when the member joined or left, `since` the time of joining, `turn` the number of joins and leaves,
-- `version` the members version of the last change.
CREATE TABLE members (
  number INTEGER PRIMARY KEY,
  user_id TEXT NOT NULL UNIQUE,
  delivered INTEGER NOT NULL DEFAULT 0,
  read INTEGER NOT NULL DEFAULT 0,
  hidden INTEGER NOT NULL DEFAULT 0,
  blocks INTEGER NOT NULL DEFAULT 0,
  ends INTEGER,
  shown_delivered INTEGER,
  shown_read INTEGER,
  state TEXT NOT NULL DEFAULT 'in',
  role TEXT NOT NULL DEFAULT 'member',
  joined INTEGER NOT NULL DEFAULT 0,
  since INTEGER NOT NULL DEFAULT 0,
  turn INTEGER NOT NULL DEFAULT 0,
  version INTEGER NOT NULL DEFAULT 0,
  hides INTEGER NOT NULL DEFAULT 0
);

-- `seq` is 1, 2, 3 … without gaps; rows are deleted only after the conversation has ended. `body` is the text itself for
-- kind 'text', otherwise JSON. `revision` is that of the last change, 0 if there was none. `withheld` is 1 for a message
-- that was not delivered to the other member, 2 once its author was told.
CREATE TABLE messages (
  seq INTEGER PRIMARY KEY,
  sender INTEGER NOT NULL,
  cid TEXT NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  revision INTEGER NOT NULL DEFAULT 0,
  withheld INTEGER NOT NULL DEFAULT 0,
  UNIQUE (sender, cid)
);
CREATE INDEX messages_by_revision ON messages (revision) WHERE revision > 0;
CREATE INDEX messages_by_withheld ON messages (sender) WHERE withheld = 1;

-- Files referenced by messages that are not deleted.
CREATE TABLE attachments (
  file TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (file, seq)
) WITHOUT ROWID;

-- Files of deleted messages that are not released in the directory yet.
CREATE TABLE releases (
  cid TEXT NOT NULL,
  file TEXT NOT NULL,
  PRIMARY KEY (cid, file)
) WITHOUT ROWID;

-- Client ids of messages that were deleted before they arrived; such a message is refused.
CREATE TABLE withdrawn (
  sender INTEGER NOT NULL,
  cid TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (sender, cid)
) WITHOUT ROWID;

-- Daily byte budget of a member; no row while little was used.
CREATE TABLE sent_bytes (
  member INTEGER PRIMARY KEY,
  tokens REAL NOT NULL,
  at INTEGER NOT NULL
);

-- Connections that ended: none of them opens the conversation again.
CREATE TABLE closed_connections (
  id TEXT PRIMARY KEY
) WITHOUT ROWID;

-- The open or last call, at most one row. `over` is the body of its log entry once it has ended. `withheld`: the callee
-- blocks the caller. `…_heard_at`: last written heartbeat of each side. `unanswered…`: number of unanswered calls of the
-- caller in a row, the time of the first and the log head at that time. `…_session`: session of each side, null if unknown.
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
  caller_heard_at INTEGER NOT NULL,
  callee_heard_at INTEGER NOT NULL DEFAULT 0,
  unanswered INTEGER NOT NULL DEFAULT 0,
  unanswered_since INTEGER NOT NULL DEFAULT 0,
  unanswered_from INTEGER NOT NULL DEFAULT 0,
  caller_session TEXT,
  callee_session TEXT
) WITHOUT ROWID;

-- One row. `connection` lets the members of a private conversation write, null if there is none. `turn` counts how
-- often writing was enabled or disabled. `revision` counts the changes to stored messages. `name` and `picture` are
-- null in a private conversation. `roster` is the members version. Once `ended` is 1 the group has no members and is
-- purged in batches. `calls` is the version of the call. `pinned`: pinned messages as JSON, null if there never were
-- any (worker/objects/conversation/log/pinned-messages.ts).
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
  calls INTEGER NOT NULL DEFAULT 0,
  pinned TEXT
);

-- The members of a private conversation are 0 and 1, in the order of its id. Member numbers are never reused. `blocks`:
-- the member blocks the peer. `ends`: newest seq the member sees if that is not the head. `shown_…`: read state shown
-- to the others if it differs from the real one. `hides`: 1 after a read that the others must not see. `state` is 'in',
-- 'quiet' (hidden member), 'leaving' (left, not confirmed by their channel), 'quietLeaving' (both) or 'out'. `joined`
-- is the head when the member joined or left, `since` the time of joining, `turn` the number of joins and leaves,
-- `version` the members version of the last change. `marks`: recent advances of the read state as the other member of a
-- private conversation sees it, with their times: JSON of `ReceiptMarks`, null before the first. `kept`: what a former
-- member may still read, as JSON, null if nothing: the seqs of each membership (`ranges`), and the revision, the time
-- and the members version when the last one ended.
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
  hides INTEGER NOT NULL DEFAULT 0,
  marks TEXT,
  kept TEXT
);

-- `seq` is 1, 2, 3 … without gaps; rows are deleted only after the conversation has ended. `body` is the text itself
-- for kind 'text', otherwise JSON. `revision` is that of the last change, 0 if there was none. `withheld` is 1 for a
-- message that was not delivered to the other member, 2 once its author was told. `shown`: body that the other member
-- sees, as JSON, if the author edited the message while that member blocked them; else null.
CREATE TABLE messages (
  seq INTEGER PRIMARY KEY,
  sender INTEGER NOT NULL,
  cid TEXT NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  revision INTEGER NOT NULL DEFAULT 0,
  withheld INTEGER NOT NULL DEFAULT 0,
  shown TEXT,
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
-- blocks the caller. `…_heard_at`: last written heartbeat of each side. `unanswered…`: number of unanswered calls of
-- the caller in a row, the time of the first and the log head at that time. `…_session`: session of each side, null if
-- unknown. `ring` is 'asleep' or 'woken' once the open call rings longer than usual, else null.
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
  callee_session TEXT,
  ring TEXT
) WITHOUT ROWID;

-- Members mentioned by messages of a group; -1 stands for everyone. A row stays when its message is deleted, so that a
-- deleted mention of everyone counts for its limit.
CREATE TABLE mentions (
  member INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (member, seq)
) WITHOUT ROWID;

-- Texts of messages before each edit, kept for a while for reports of abuse. `number` is that of the edit that wrote
-- the text, 0 for the text that was sent. `at` and `revision` are those of the edit that replaced it.
CREATE TABLE earlier_texts (
  seq INTEGER NOT NULL,
  number INTEGER NOT NULL,
  text TEXT NOT NULL,
  at INTEGER NOT NULL,
  revision INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (seq, number)
) WITHOUT ROWID;

-- Reactions of members to messages, at most one of each member; `emoji` is null once it was removed. `revision`: number
-- of the last change, in the same sequence as that of messages. `withheld`: 1 if the other member blocked this one, so
-- that only this one sees it.
CREATE TABLE reactions (
  seq INTEGER NOT NULL,
  member INTEGER NOT NULL,
  emoji TEXT,
  revision INTEGER NOT NULL,
  withheld INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (seq, member)
) WITHOUT ROWID;
CREATE INDEX reactions_by_revision ON reactions (revision);

-- Invitations to a group that were neither accepted nor withdrawn, with the time of each.
CREATE TABLE invitations (
  user_id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  declined INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- `bucket` is `changed` divided by the bucket size: an index on it finds recent changes, and most updates of a row
-- leave it as it is and so write no index. `card` is the group's name, picture, size, members version and own role as
-- JSON. `gone` is 1 once the person is no longer a member. `muted_until`: end of a timed mute, null without one; one
-- whose end has passed has no effect. `mentions`, `missed_calls`: seqs of unread mentions and missed calls (JSON), null
-- if there are none. `muted_except_mentions`: whether mentions notify all the same. `push_mark`: what devices were
-- notified of (JSON): by session the seq of the newest message, the time of the last push, and of the last one that
-- made itself heard. `marked`, `archived`, `pinned_at`: flags in the person's list. `last_read_change`,
-- `last_arrival_change`: numbers of the row's changes, the last time the person read it, and the last arrival of a
-- message that ends an archiving. `flags_revision`: number of the last change of `message_flags`. `pinned_messages`:
-- positions and version of the list as JSON, null if there never were any.
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
  gone INTEGER NOT NULL DEFAULT 0,
  muted_until INTEGER,
  mentions TEXT,
  muted_except_mentions INTEGER NOT NULL DEFAULT 0,
  push_mark TEXT,
  missed_calls TEXT,
  marked INTEGER NOT NULL DEFAULT 0,
  archived INTEGER NOT NULL DEFAULT 0,
  pinned_at INTEGER,
  last_read_change INTEGER NOT NULL DEFAULT 0,
  last_arrival_change INTEGER NOT NULL DEFAULT 0,
  flags_revision INTEGER NOT NULL DEFAULT 0,
  pinned_messages TEXT
);
CREATE INDEX inbox_by_bucket ON inbox (bucket);
CREATE INDEX inbox_muted ON inbox (handle) WHERE muted = 1;
-- Few rows, and no entry for the others: a message to a conversation without these flags writes neither index.
CREATE INDEX inbox_archived ON inbox (archived) WHERE archived = 1;
CREATE INDEX inbox_pinned ON inbox (pinned_at) WHERE pinned_at IS NOT NULL;

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

-- Push subscription of a session's device. `origin` is the public address under which it subscribed, `key` the server's
-- key that it subscribed with. `gone_at`: time at which its push service first did not know it, null otherwise.
CREATE TABLE push_subscriptions (
  session TEXT PRIMARY KEY,
  endpoint TEXT NOT NULL,
  p256dh TEXT NOT NULL,
  auth TEXT NOT NULL,
  key TEXT NOT NULL,
  language TEXT NOT NULL,
  origin TEXT NOT NULL,
  saved_at INTEGER NOT NULL,
  gone_at INTEGER
) WITHOUT ROWID;

-- Last call of a conversation that rang on devices by a push: the sessions of these devices (JSON).
CREATE TABLE push_rings (
  conversation TEXT PRIMARY KEY,
  call TEXT NOT NULL,
  sessions TEXT NOT NULL
) WITHOUT ROWID;

-- Flags of single messages, private to the person: when it was starred (null if it is not), and whether the person
-- deleted it for themselves. A message without flags has no row.
CREATE TABLE message_flags (
  handle INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  starred_at INTEGER,
  deleted INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (handle, seq)
) WITHOUT ROWID;

-- Drafts that the devices of the person share, by the handle of their conversation. An empty text: it was sent or
-- emptied, which devices that were away still have to learn. `base`: newest change that its writer had seen.
CREATE TABLE drafts (
  handle INTEGER PRIMARY KEY,
  change INTEGER NOT NULL,
  base INTEGER NOT NULL,
  at INTEGER NOT NULL,
  writer TEXT NOT NULL,
  text TEXT NOT NULL,
  reply INTEGER
);

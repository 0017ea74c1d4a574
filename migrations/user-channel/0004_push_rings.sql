-- Last call of a conversation that rang on devices by a push: the sessions of these devices (JSON). `missed` is the
-- number of unanswered calls in a row up to the message `head`.
CREATE TABLE push_rings (
  conversation TEXT PRIMARY KEY,
  call TEXT NOT NULL,
  sessions TEXT NOT NULL,
  missed INTEGER NOT NULL,
  head INTEGER NOT NULL
) WITHOUT ROWID;

-- Messages that a member deleted before they had come: one that comes later is not taken in.
CREATE TABLE withdrawn (
  sender INTEGER NOT NULL,
  cid TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (sender, cid)
) WITHOUT ROWID;

-- What is left to a member of the bytes they may send in a day, and when that was so; no row for who sent little.
CREATE TABLE sent_bytes (
  member INTEGER PRIMARY KEY,
  tokens REAL NOT NULL,
  at INTEGER NOT NULL
);

-- What is left of a person's leave to dial, and when that was so: one row, none before the first call.
CREATE TABLE dials (
  id INTEGER PRIMARY KEY,
  tokens REAL NOT NULL,
  at INTEGER NOT NULL
);

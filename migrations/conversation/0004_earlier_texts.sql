-- Texts of messages before each edit, kept for a while for reports of abuse. `number` is that of the edit that wrote the
-- text, 0 for the text that was sent. `at` is the time of the edit that replaced it.
CREATE TABLE earlier_texts (
  seq INTEGER NOT NULL,
  number INTEGER NOT NULL,
  text TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (seq, number)
) WITHOUT ROWID;
-- Body that the other member sees, as JSON, if the author edited the message while that member blocked them; else null.
ALTER TABLE messages ADD COLUMN shown TEXT;

-- Drafts that the devices of the person share, by the handle of their conversation. An empty text: it was sent or emptied,
-- which devices that were away still have to learn. `base`: newest change that its writer had seen.
CREATE TABLE drafts (
  handle INTEGER PRIMARY KEY,
  change INTEGER NOT NULL,
  base INTEGER NOT NULL,
  at INTEGER NOT NULL,
  writer TEXT NOT NULL,
  text TEXT NOT NULL,
  reply INTEGER
);

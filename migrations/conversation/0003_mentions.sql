-- Members mentioned by messages of a group; -1 stands for everyone. A row stays when its message is deleted, so that a
-- deleted mention of everyone counts for its limit.
CREATE TABLE mentions (
  member INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (member, seq)
) WITHOUT ROWID;

-- Seqs of unread mentions of the person (JSON), null if there are none, and whether mentions notify while the
-- conversation is muted.
ALTER TABLE inbox ADD COLUMN mentions TEXT;
ALTER TABLE inbox ADD COLUMN muted_except_mentions INTEGER NOT NULL DEFAULT 0;

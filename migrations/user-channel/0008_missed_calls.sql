-- Seqs of unread missed calls (JSON), null if there are none. They are counted there, and no longer with the rings.
ALTER TABLE inbox ADD COLUMN missed_calls TEXT;
ALTER TABLE push_rings DROP COLUMN missed;
ALTER TABLE push_rings DROP COLUMN head;

-- What a former member may still read, as JSON, null if nothing: the seqs of each membership (`ranges`), and the revision,
-- the time and the members version when the last one ended.
ALTER TABLE members ADD COLUMN kept TEXT;

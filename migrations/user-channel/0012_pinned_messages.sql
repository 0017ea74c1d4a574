-- Positions of the conversation's pinned messages and the version of the list as JSON, null if there never were any.
ALTER TABLE inbox ADD COLUMN pinned_messages TEXT;

-- The time of the message before the newest: a device that has that message sees whether it is the same one. Null where
-- there is none, and until the row is next written.
ALTER TABLE inbox ADD COLUMN prior INTEGER;

-- `ring` is 'asleep' or 'woken' once the open call rings longer than usual, else null.
ALTER TABLE calls ADD COLUMN ring TEXT;

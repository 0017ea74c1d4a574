-- 1 once a member read something unseen by the others, until they read anything that may be seen. `shown_…` are then
-- their marks as the others see them: what was got goes on, what was read stands still.
ALTER TABLE members ADD COLUMN hides INTEGER NOT NULL DEFAULT 0;

-- Of a group: its name, picture, size, roster and this person's role, as JSON.
ALTER TABLE inbox ADD COLUMN card TEXT;
-- 1 once this person is no longer a member of it.
ALTER TABLE inbox ADD COLUMN gone INTEGER NOT NULL DEFAULT 0;

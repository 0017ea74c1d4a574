-- When each side of the call was last heard of, up to a while behind.
ALTER TABLE calls RENAME COLUMN heard_at TO caller_heard_at;
ALTER TABLE calls ADD COLUMN callee_heard_at INTEGER NOT NULL DEFAULT 0;
UPDATE calls SET callee_heard_at = caller_heard_at;
-- How often in a row the caller was not answered before this call, since when, and where the log ended then.
ALTER TABLE calls ADD COLUMN unanswered INTEGER NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN unanswered_since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN unanswered_from INTEGER NOT NULL DEFAULT 0;

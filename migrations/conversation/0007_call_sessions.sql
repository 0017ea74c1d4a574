-- By which session each side of the call came into it, null where that is not known or nobody answered yet.
ALTER TABLE calls ADD COLUMN caller_session TEXT;
ALTER TABLE calls ADD COLUMN callee_session TEXT;

-- Null in a private conversation. `roster` counts the changes to members, name and picture; once `ended` is 1 nobody is
-- a member and what was written is taken out bit by bit.
ALTER TABLE conversation ADD COLUMN name TEXT;
ALTER TABLE conversation ADD COLUMN picture TEXT;
ALTER TABLE conversation ADD COLUMN roster INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN ended INTEGER NOT NULL DEFAULT 0;

-- A member keeps their number for good. `state` is 'in'; 'quiet' for somebody who blocks the one who added them: a member
-- for the others who is told nothing; 'leaving' until the channel of one who left has confirmed it, then 'out';
-- 'quietLeaving' for one who is both, then 'quiet'.
-- `joined` is the head when they came, or went, `since` the time they came, `turn` how often they came or went, `version` the roster of
-- their last change.
ALTER TABLE members ADD COLUMN state TEXT NOT NULL DEFAULT 'in';
ALTER TABLE members ADD COLUMN role TEXT NOT NULL DEFAULT 'member';
ALTER TABLE members ADD COLUMN joined INTEGER NOT NULL DEFAULT 0;
ALTER TABLE members ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE members ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
ALTER TABLE members ADD COLUMN version INTEGER NOT NULL DEFAULT 0;

-- Pinned messages as JSON, null if there never were any (worker/objects/conversation/log/pinned-messages.ts).
ALTER TABLE conversation ADD COLUMN pinned TEXT;

-- Revision of the edit that replaced the text, 0 if it is unknown.
ALTER TABLE earlier_texts ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;

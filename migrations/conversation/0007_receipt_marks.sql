-- Recent advances of a member's read state as the other member of a private conversation sees it, with their times: JSON
-- of `ReceiptMarks`, null before the first.
ALTER TABLE members ADD COLUMN marks TEXT;

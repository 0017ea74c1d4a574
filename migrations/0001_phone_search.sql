-- Phone numbers by any part of three digits or more. The index keeps no copy of the numbers: they are read from
-- `profiles`, and the triggers tell it of every change, as SQLite asks of external-content tables (FTS5 §4.4.3).
CREATE VIRTUAL TABLE `profile_phones` USING fts5(phone, content='profiles', content_rowid='number', tokenize='trigram');
--> statement-breakpoint
CREATE TRIGGER `profile_phones_insert` AFTER INSERT ON `profiles` BEGIN
	INSERT INTO `profile_phones`(rowid, phone) VALUES (new.number, new.phone);
END;
--> statement-breakpoint
CREATE TRIGGER `profile_phones_delete` AFTER DELETE ON `profiles` BEGIN
	INSERT INTO `profile_phones`(`profile_phones`, rowid, phone) VALUES ('delete', old.number, old.phone);
END;
--> statement-breakpoint
CREATE TRIGGER `profile_phones_update` AFTER UPDATE OF `phone` ON `profiles` BEGIN
	INSERT INTO `profile_phones`(`profile_phones`, rowid, phone) VALUES ('delete', old.number, old.phone);
	INSERT INTO `profile_phones`(rowid, phone) VALUES (new.number, new.phone);
END;

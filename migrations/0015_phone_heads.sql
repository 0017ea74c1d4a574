-- Phone numbers by any part of three digits or more that leaves out their last four digits: whoever could look for those
-- would find them out one by one, also by the order of what is found. The index keeps no copy of the numbers (FTS5 §4.4.2).
DROP TRIGGER `profile_phones_insert`;
--> statement-breakpoint
DROP TRIGGER `profile_phones_delete`;
--> statement-breakpoint
DROP TRIGGER `profile_phones_update`;
--> statement-breakpoint
DROP TABLE `profile_phones`;
--> statement-breakpoint
CREATE INDEX `profiles_by_head` ON `profiles` (substr(`phone`, 1, max(0, length(`phone`) - 4)));
--> statement-breakpoint
CREATE VIRTUAL TABLE `profile_phone_heads` USING fts5(head, content='', tokenize='trigram');
--> statement-breakpoint
INSERT INTO `profile_phone_heads`(rowid, head) SELECT `number`, substr(`phone`, 1, max(0, length(`phone`) - 4)) FROM `profiles`;
--> statement-breakpoint
CREATE TRIGGER `profile_phone_heads_insert` AFTER INSERT ON `profiles` BEGIN
	INSERT INTO `profile_phone_heads`(rowid, head) VALUES (new.number, substr(new.phone, 1, max(0, length(new.phone) - 4)));
END;
--> statement-breakpoint
CREATE TRIGGER `profile_phone_heads_delete` AFTER DELETE ON `profiles` BEGIN
	INSERT INTO `profile_phone_heads`(`profile_phone_heads`, rowid, head)
		VALUES ('delete', old.number, substr(old.phone, 1, max(0, length(old.phone) - 4)));
END;
--> statement-breakpoint
CREATE TRIGGER `profile_phone_heads_update` AFTER UPDATE OF `phone` ON `profiles` BEGIN
	INSERT INTO `profile_phone_heads`(`profile_phone_heads`, rowid, head)
		VALUES ('delete', old.number, substr(old.phone, 1, max(0, length(old.phone) - 4)));
	INSERT INTO `profile_phone_heads`(rowid, head) VALUES (new.number, substr(new.phone, 1, max(0, length(new.phone) - 4)));
END;

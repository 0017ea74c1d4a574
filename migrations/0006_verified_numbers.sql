-- Verified numbers have indexes of their own, so that unverified ones cannot fill the bounded part of an index that a
-- partial search reads. Built as those of all numbers (0000_directory.sql).
CREATE INDEX `profiles_verified_by_head` ON `profiles` (substr(`phone`, 1, max(0, length(`phone`) - 4)))
	WHERE `verified_at` IS NOT NULL;--> statement-breakpoint
CREATE VIRTUAL TABLE `verified_phone_heads` USING fts5(head, content='', tokenize='trigram');--> statement-breakpoint
INSERT INTO `verified_phone_heads`(rowid, head)
	SELECT `number`, substr(`phone`, 1, max(0, length(`phone`) - 4)) FROM `profiles` WHERE `verified_at` IS NOT NULL;
--> statement-breakpoint
CREATE TRIGGER `verified_phone_heads_insert` AFTER INSERT ON `profiles` WHEN new.verified_at IS NOT NULL BEGIN
	INSERT INTO `verified_phone_heads`(rowid, head) VALUES (new.number, substr(new.phone, 1, max(0, length(new.phone) - 4)));
END;
--> statement-breakpoint
CREATE TRIGGER `verified_phone_heads_delete` AFTER DELETE ON `profiles` WHEN old.verified_at IS NOT NULL BEGIN
	INSERT INTO `verified_phone_heads`(`verified_phone_heads`, rowid, head)
		VALUES ('delete', old.number, substr(old.phone, 1, max(0, length(old.phone) - 4)));
END;
--> statement-breakpoint
CREATE TRIGGER `verified_phone_heads_remove` AFTER UPDATE OF `phone`, `verified_at` ON `profiles`
	WHEN old.verified_at IS NOT NULL AND (new.verified_at IS NULL OR new.phone <> old.phone) BEGIN
	INSERT INTO `verified_phone_heads`(`verified_phone_heads`, rowid, head)
		VALUES ('delete', old.number, substr(old.phone, 1, max(0, length(old.phone) - 4)));
END;
--> statement-breakpoint
CREATE TRIGGER `verified_phone_heads_add` AFTER UPDATE OF `phone`, `verified_at` ON `profiles`
	WHEN new.verified_at IS NOT NULL AND (old.verified_at IS NULL OR new.phone <> old.phone) BEGIN
	INSERT INTO `verified_phone_heads`(rowid, head) VALUES (new.number, substr(new.phone, 1, max(0, length(new.phone) - 4)));
END;

-- How much of each person is stored: the triggers count every file that is announced, completed, removed or given away.
CREATE TABLE `storage_use` (
	`user_id` text PRIMARY KEY NOT NULL,
	`bytes` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `files_receiving` ON `files` (`owner_id`) WHERE status = 'receiving';
--> statement-breakpoint
INSERT INTO `storage_use` (`user_id`, `bytes`)
	SELECT `owner_id`, sum(coalesce(`size`, `announced_size`)) FROM `files`
	WHERE `status` <> 'removed' AND `owner_id` IN (SELECT `id` FROM `users`) GROUP BY `owner_id`;
--> statement-breakpoint
CREATE TRIGGER `storage_use_insert` AFTER INSERT ON `files` WHEN new.status <> 'removed' BEGIN
	INSERT INTO `storage_use` (`user_id`, `bytes`) SELECT `id`, 0 FROM `users` WHERE `id` = new.owner_id
		ON CONFLICT DO NOTHING;
	UPDATE `storage_use` SET `bytes` = `bytes` + coalesce(new.size, new.announced_size) WHERE `user_id` = new.owner_id;
END;
--> statement-breakpoint
CREATE TRIGGER `storage_use_update` AFTER UPDATE OF `owner_id`, `size`, `status` ON `files` BEGIN
	UPDATE `storage_use` SET `bytes` = max(0, `bytes` - coalesce(old.size, old.announced_size))
		WHERE `user_id` = old.owner_id AND old.status <> 'removed';
	UPDATE `storage_use` SET `bytes` = `bytes` + coalesce(new.size, new.announced_size)
		WHERE `user_id` = new.owner_id AND new.status <> 'removed';
END;
--> statement-breakpoint
CREATE TRIGGER `storage_use_delete` AFTER DELETE ON `files` WHEN old.status <> 'removed' BEGIN
	UPDATE `storage_use` SET `bytes` = max(0, `bytes` - coalesce(old.size, old.announced_size))
		WHERE `user_id` = old.owner_id;
END;

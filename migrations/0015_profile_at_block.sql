-- Existing blocks begin now as far as the shown profile is concerned.
CREATE TABLE `blocks_with_profile` (
	`user_id` text NOT NULL,
	`blocked_user_id` text NOT NULL,
	`avatar_url` text,
	`created_at` integer NOT NULL,
	`username` text NOT NULL,
	`phone` text NOT NULL,
	`handle` text,
	`verified_at` integer,
	`picture_to` text NOT NULL,
	`phone_to` text NOT NULL,
	`phone_in_groups` integer NOT NULL,
	PRIMARY KEY(`user_id`, `blocked_user_id`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`blocked_user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "blocks_pair" CHECK("user_id" <> "blocked_user_id")
);
--> statement-breakpoint
INSERT INTO `blocks_with_profile`
	SELECT `blocks`.`user_id`, `blocked_user_id`, `blocks`.`avatar_url`, `blocks`.`created_at`, `username`, `phone`, `handle`,
		`verified_at`, 'nobody', 'nobody', 0
	FROM `blocks` JOIN `profiles` ON `profiles`.`id` = `blocks`.`user_id`;
--> statement-breakpoint
DROP TABLE `blocks`;--> statement-breakpoint
ALTER TABLE `blocks_with_profile` RENAME TO `blocks`;--> statement-breakpoint
CREATE INDEX `blocks_by_time` ON `blocks` (`user_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `blocks_by_blocked` ON `blocks` (`blocked_user_id`);--> statement-breakpoint
ALTER TABLE `pending_relations` ADD `block_changed` integer DEFAULT false NOT NULL;

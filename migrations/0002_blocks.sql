CREATE TABLE `blocks` (
	`user_id` text NOT NULL,
	`blocked_user_id` text NOT NULL,
	`avatar_url` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `blocked_user_id`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`blocked_user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "blocks_pair" CHECK("blocks"."user_id" <> "blocks"."blocked_user_id")
);
--> statement-breakpoint
CREATE INDEX `blocks_by_time` ON `blocks` (`user_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `blocks_by_blocked` ON `blocks` (`blocked_user_id`);
CREATE TABLE `handles` (
	`skeleton` text PRIMARY KEY NOT NULL,
	`user_id` text,
	`released_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE INDEX `handles_by_user` ON `handles` (`user_id`);--> statement-breakpoint
CREATE INDEX `handles_released` ON `handles` (`released_at`) WHERE released_at IS NOT NULL;--> statement-breakpoint
ALTER TABLE `profiles` ADD `handle` text;
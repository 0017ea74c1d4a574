CREATE TABLE `tala_restricted_posts` (
	`number` real NOT NULL,
	`id` text NOT NULL,
	`user_id` text NOT NULL,
	`audience` text NOT NULL,
	`content` text NOT NULL,
	`width` integer,
	`height` integer,
	`thumb` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `number`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tala_restricted_posts_by_id` ON `tala_restricted_posts` (`user_id`,`id`);--> statement-breakpoint
CREATE INDEX `tala_restricted_posts_by_number` ON `tala_restricted_posts` (`number`,`user_id`,`audience`);
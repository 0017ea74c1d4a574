CREATE TABLE `tala_gone` (
	`user_id` text NOT NULL,
	`id` text NOT NULL,
	`gone_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `id`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `tala_gone_by_time` ON `tala_gone` (`gone_at`);--> statement-breakpoint
CREATE TABLE `tala_posts` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`user_id` text NOT NULL,
	`content` text NOT NULL,
	`width` integer,
	`height` integer,
	`thumb` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tala_posts_id_unique` ON `tala_posts` (`id`);--> statement-breakpoint
CREATE INDEX `tala_posts_by_user` ON `tala_posts` (`user_id`);
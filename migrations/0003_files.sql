CREATE TABLE `file_uses` (
	`file_id` text NOT NULL,
	`conversation_id` text NOT NULL,
	`cid` text NOT NULL,
	PRIMARY KEY(`file_id`, `conversation_id`, `cid`),
	FOREIGN KEY (`file_id`) REFERENCES `files`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `files` (
	`id` text PRIMARY KEY NOT NULL,
	`owner_id` text NOT NULL,
	`name` text NOT NULL,
	`announced_size` integer NOT NULL,
	`size` integer,
	`type` text,
	`width` integer,
	`height` integer,
	`key` text,
	`status` text NOT NULL,
	`was_used` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `files_to_sweep` ON `files` (`created_at`) WHERE was_used = 0 OR status = 'removed';--> statement-breakpoint
CREATE TABLE `upload_days` (
	`user_id` text NOT NULL,
	`day` integer NOT NULL,
	`bytes` integer NOT NULL,
	`granted` text NOT NULL,
	PRIMARY KEY(`user_id`, `day`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `upload_days_by_day` ON `upload_days` (`day`);
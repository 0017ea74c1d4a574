CREATE TABLE `deleted_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`deleted_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `deleted_sessions_by_time` ON `deleted_sessions` (`deleted_at`);--> statement-breakpoint
CREATE TABLE `deletions` (
	`user_id` text PRIMARY KEY NOT NULL,
	`started_at` integer NOT NULL
);
--> statement-breakpoint
-- Made anew without the reference of `other_id`: of a deleted account there is still to be told that it is gone.
CREATE TABLE `__new_pending_relations` (
	`user_id` text NOT NULL,
	`other_id` text NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	PRIMARY KEY(`user_id`, `other_id`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
INSERT INTO `__new_pending_relations`("user_id", "other_id", "version") SELECT "user_id", "other_id", "version" FROM `pending_relations`;--> statement-breakpoint
DROP TABLE `pending_relations`;--> statement-breakpoint
ALTER TABLE `__new_pending_relations` RENAME TO `pending_relations`;--> statement-breakpoint
CREATE INDEX `pending_relations_by_other` ON `pending_relations` (`other_id`);--> statement-breakpoint
CREATE INDEX `files_by_owner` ON `files` (`owner_id`);

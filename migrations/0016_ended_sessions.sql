CREATE TABLE `ended_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`ended_at` integer NOT NULL,
	`cause` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `ended_sessions_by_time` ON `ended_sessions` (`ended_at`);--> statement-breakpoint
DROP TABLE `deleted_sessions`;
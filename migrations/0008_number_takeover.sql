CREATE TABLE `number_claims` (
	`user_id` text PRIMARY KEY NOT NULL,
	`phone` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `number_claims_by_phone` ON `number_claims` (`phone`,`created_at`);--> statement-breakpoint
CREATE TABLE `number_notices` (
	`user_id` text NOT NULL,
	`other_id` text NOT NULL,
	`kind` text NOT NULL,
	PRIMARY KEY(`user_id`, `other_id`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`other_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `number_notices_by_other` ON `number_notices` (`other_id`);--> statement-breakpoint
ALTER TABLE `number_proofs` ADD `is_refused` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `profiles` ADD `contested_at` integer;--> statement-breakpoint
ALTER TABLE `profiles` ADD `ended_session_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- When somebody was last active, after their sessions have ended: who holds a number without using the account for long
-- loses it to whoever proves it. Pending sessions, which need a second factor, say nothing about it.
CREATE TRIGGER `ended_session` AFTER DELETE ON `sessions` WHEN old.awaits = 0 BEGIN
	UPDATE `profiles` SET `ended_session_at` = max(`ended_session_at`, old.refreshed_at) WHERE `id` = old.user_id;
END;

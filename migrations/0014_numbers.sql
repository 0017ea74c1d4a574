CREATE TABLE `phone_searches` (
	`user_id` text NOT NULL,
	`hash` text NOT NULL,
	`digits` integer NOT NULL,
	`searched_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `hash`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `phone_searches_by_time` ON `phone_searches` (`searched_at`);--> statement-breakpoint
ALTER TABLE `settings` ADD `phone_in_groups` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `settings` ADD `group_adds` text DEFAULT 'contacts' NOT NULL;--> statement-breakpoint
-- Accounts that were made without a name were called by their number, which everybody who reads statuses saw.
UPDATE `profiles` SET `username` = 'Utilisateur' WHERE `username` = `phone`;

CREATE TABLE `settings` (
	`user_id` text PRIMARY KEY NOT NULL,
	`version` integer NOT NULL,
	`told_version` integer DEFAULT 0 NOT NULL,
	`receipts` integer NOT NULL,
	`presence` integer NOT NULL,
	`findable` text NOT NULL,
	`notices` text NOT NULL,
	`tala` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);

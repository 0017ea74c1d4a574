CREATE TABLE `number_vouches` (
	`voucher_id` text NOT NULL,
	`lookup` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`voucher_id`, `lookup`),
	FOREIGN KEY (`voucher_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `number_vouches_by_lookup` ON `number_vouches` (`lookup`);--> statement-breakpoint
CREATE INDEX `number_vouches_by_time` ON `number_vouches` (`created_at`);--> statement-breakpoint
ALTER TABLE `profiles` ADD `verified_by` text;
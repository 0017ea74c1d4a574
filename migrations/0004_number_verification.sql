CREATE TABLE `number_proof_counts` (
	`adapter` text NOT NULL,
	`range` text NOT NULL,
	`day` integer NOT NULL,
	`started` integer DEFAULT 0 NOT NULL,
	`completed` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`day`, `adapter`, `range`)
);
--> statement-breakpoint
CREATE TABLE `number_proofs` (
	`user_id` text PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`session_id` text NOT NULL,
	`phone` text NOT NULL,
	`method` text NOT NULL,
	`adapter` text NOT NULL,
	`code_hash` text,
	`lookup` text,
	`attempts` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`session_id`) REFERENCES `sessions`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `number_proofs_lookup_unique` ON `number_proofs` (`lookup`);--> statement-breakpoint
CREATE INDEX `number_proofs_by_session` ON `number_proofs` (`session_id`);--> statement-breakpoint
CREATE INDEX `number_proofs_by_expiry` ON `number_proofs` (`expires_at`);--> statement-breakpoint
ALTER TABLE `profiles` ADD `verified_at` integer;
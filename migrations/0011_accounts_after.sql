ALTER TABLE `sessions` ADD `network` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `account_security` ADD `reset_stops` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `account_security` ADD `reset_paused_until` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `mailed_tokens` DROP COLUMN `redirect_to`;
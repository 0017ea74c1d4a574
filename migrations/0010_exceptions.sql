ALTER TABLE `settings` ADD `statuses_to` text DEFAULT 'everyone' NOT NULL;--> statement-breakpoint
ALTER TABLE `settings` ADD `exceptions` text DEFAULT '{}' NOT NULL;
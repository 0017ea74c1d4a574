ALTER TABLE `settings` ADD `requests_from` text DEFAULT 'everyone' NOT NULL;--> statement-breakpoint
ALTER TABLE `settings` ADD `calls_from` text DEFAULT 'contacts' NOT NULL;--> statement-breakpoint
ALTER TABLE `settings` ADD `picture_to` text DEFAULT 'everyone' NOT NULL;--> statement-breakpoint
ALTER TABLE `settings` ADD `phone_to` text DEFAULT 'contacts' NOT NULL;
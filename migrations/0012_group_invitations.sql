CREATE TABLE `group_invitations` (
	`id` text PRIMARY KEY NOT NULL,
	`group_id` text NOT NULL,
	`from_user_id` text NOT NULL,
	`to_user_id` text NOT NULL,
	`is_contact` integer NOT NULL,
	`status` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `group_invitations_pending` ON `group_invitations` (`group_id`,`to_user_id`) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX `group_invitations_received` ON `group_invitations` (`to_user_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `group_invitations_sent` ON `group_invitations` (`from_user_id`,`id`);--> statement-breakpoint
CREATE INDEX `group_invitations_by_time` ON `group_invitations` (`created_at`);
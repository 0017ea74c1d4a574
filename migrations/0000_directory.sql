CREATE TABLE `connection_requests` (
	`id` text PRIMARY KEY NOT NULL,
	`from_user_id` text NOT NULL,
	`to_user_id` text NOT NULL,
	`conversation_id` text NOT NULL,
	`status` text NOT NULL,
	`connection_id` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`from_user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`to_user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "connection_requests_pair" CHECK("connection_requests"."from_user_id" <> "connection_requests"."to_user_id")
);
--> statement-breakpoint
CREATE UNIQUE INDEX `connection_requests_pending` ON `connection_requests` (`conversation_id`) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX `connection_requests_by_pair` ON `connection_requests` (`conversation_id`,`updated_at`);--> statement-breakpoint
CREATE INDEX `connection_requests_received` ON `connection_requests` (`to_user_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `connection_requests_sent` ON `connection_requests` (`from_user_id`,`status`,`id`);--> statement-breakpoint
CREATE TABLE `connections` (
	`id` text PRIMARY KEY NOT NULL,
	`user1_id` text NOT NULL,
	`user2_id` text NOT NULL,
	`conversation_id` text NOT NULL,
	`request_id` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user1_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user2_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "connections_pair" CHECK("connections"."user1_id" <> "connections"."user2_id")
);
--> statement-breakpoint
CREATE UNIQUE INDEX `connections_conversation_id_unique` ON `connections` (`conversation_id`);--> statement-breakpoint
CREATE INDEX `connections_by_user1` ON `connections` (`user1_id`,`id`);--> statement-breakpoint
CREATE INDEX `connections_by_user2` ON `connections` (`user2_id`,`id`);--> statement-breakpoint
CREATE TABLE `pending_relations` (
	`user_id` text NOT NULL,
	`other_id` text NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	PRIMARY KEY(`user_id`, `other_id`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`other_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `pending_relations_by_other` ON `pending_relations` (`other_id`);--> statement-breakpoint
CREATE TABLE `profiles` (
	`number` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`username` text NOT NULL,
	`phone` text NOT NULL,
	`avatar_url` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `profiles_id_unique` ON `profiles` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `profiles_phone_unique` ON `profiles` (`phone`);--> statement-breakpoint
CREATE TABLE `rate_limits` (
	`key` text PRIMARY KEY NOT NULL,
	`full_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `rate_limits_by_full_at` ON `rate_limits` (`full_at`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`nonce` text NOT NULL,
	`generation` integer DEFAULT 0 NOT NULL,
	`refreshed_at` integer NOT NULL,
	`seen_generation` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `sessions_by_user` ON `sessions` (`user_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `used_challenges` (
	`signature` text PRIMARY KEY NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `used_challenges_by_expiry` ON `used_challenges` (`expires_at`);--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`phone` text NOT NULL,
	`password_hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_phone_unique` ON `users` (`phone`);
CREATE TABLE `file_uses` (
	`file_id` text NOT NULL,
	`conversation_id` text NOT NULL,
	`cid` text NOT NULL,
	PRIMARY KEY(`file_id`, `conversation_id`, `cid`),
	FOREIGN KEY (`file_id`) REFERENCES `files`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `files` (
	`id` text PRIMARY KEY NOT NULL,
	`owner_id` text NOT NULL,
	`name` text NOT NULL,
	`announced_size` integer NOT NULL,
	`size` integer,
	`type` text,
	`width` integer,
	`height` integer,
	`key` text,
	`status` text NOT NULL,
	`was_used` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `files_to_sweep` ON `files` (`created_at`) WHERE was_used = 0 OR status = 'removed';--> statement-breakpoint
CREATE INDEX `files_by_owner` ON `files` (`owner_id`);--> statement-breakpoint
CREATE INDEX `files_receiving` ON `files` (`owner_id`) WHERE status = 'receiving';--> statement-breakpoint
CREATE TABLE `storage_use` (
	`user_id` text PRIMARY KEY NOT NULL,
	`bytes` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `upload_days` (
	`user_id` text NOT NULL,
	`day` integer NOT NULL,
	`bytes` integer NOT NULL,
	`granted` text NOT NULL,
	PRIMARY KEY(`user_id`, `day`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `upload_days_by_day` ON `upload_days` (`day`);--> statement-breakpoint
CREATE TABLE `push_endpoints` (
	`endpoint_hash` text PRIMARY KEY NOT NULL,
	`session_id` text NOT NULL,
	FOREIGN KEY (`session_id`) REFERENCES `sessions`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `push_endpoints_session_id_unique` ON `push_endpoints` (`session_id`);--> statement-breakpoint
CREATE TABLE `blocks` (
	`user_id` text NOT NULL,
	`blocked_user_id` text NOT NULL,
	`avatar_url` text,
	`created_at` integer NOT NULL,
	`username` text NOT NULL,
	`phone` text NOT NULL,
	`handle` text,
	`verified_at` integer,
	`picture_to` text NOT NULL,
	`phone_to` text NOT NULL,
	`phone_in_groups` integer NOT NULL,
	PRIMARY KEY(`user_id`, `blocked_user_id`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`blocked_user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "blocks_pair" CHECK("blocks"."user_id" <> "blocks"."blocked_user_id")
);
--> statement-breakpoint
CREATE INDEX `blocks_by_time` ON `blocks` (`user_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `blocks_by_blocked` ON `blocks` (`blocked_user_id`);--> statement-breakpoint
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
CREATE INDEX `group_invitations_by_time` ON `group_invitations` (`created_at`);--> statement-breakpoint
CREATE INDEX `group_invitations_expiring` ON `group_invitations` (`created_at`) WHERE status = 'pending';--> statement-breakpoint
CREATE TABLE `invitations` (
	`user_id` text PRIMARY KEY NOT NULL,
	`token` text NOT NULL,
	`expires_at` integer NOT NULL,
	`uses` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_token_unique` ON `invitations` (`token`);--> statement-breakpoint
CREATE INDEX `invitations_by_expiry` ON `invitations` (`expires_at`);--> statement-breakpoint
CREATE TABLE `pending_relations` (
	`user_id` text NOT NULL,
	`other_id` text NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`block_changed` integer DEFAULT false NOT NULL,
	PRIMARY KEY(`user_id`, `other_id`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `pending_relations_by_other` ON `pending_relations` (`other_id`);--> statement-breakpoint
CREATE TABLE `personal_links` (
	`user_id` text PRIMARY KEY NOT NULL,
	`token` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `personal_links_token_unique` ON `personal_links` (`token`);--> statement-breakpoint
CREATE TABLE `call_feedback` (
	`call_id` text NOT NULL,
	`place` text NOT NULL,
	`side` text NOT NULL,
	`at` integer NOT NULL,
	`good` integer NOT NULL,
	`reason` text,
	`kind` text NOT NULL,
	`seconds` integer NOT NULL,
	PRIMARY KEY(`call_id`, `place`, `side`)
);
--> statement-breakpoint
CREATE TABLE `deletions` (
	`user_id` text PRIMARY KEY NOT NULL,
	`started_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `ended_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`ended_at` integer NOT NULL,
	`cause` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `ended_sessions_by_time` ON `ended_sessions` (`ended_at`);--> statement-breakpoint
-- Edited: without a rowid, a forward costs one row and no separate index.
CREATE TABLE `forwards` (
	`author_id` text NOT NULL,
	`conversation_id` text NOT NULL,
	`cleared` integer DEFAULT false NOT NULL,
	PRIMARY KEY(`author_id`, `conversation_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `handles` (
	`skeleton` text PRIMARY KEY NOT NULL,
	`user_id` text,
	`released_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE INDEX `handles_by_user` ON `handles` (`user_id`);--> statement-breakpoint
CREATE INDEX `handles_released` ON `handles` (`released_at`) WHERE released_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `number_claims` (
	`user_id` text PRIMARY KEY NOT NULL,
	`phone` text NOT NULL,
	`created_at` integer NOT NULL,
	`is_former` integer DEFAULT false NOT NULL,
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
CREATE TABLE `profiles` (
	`number` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`username` text NOT NULL,
	`phone` text NOT NULL,
	`avatar_url` text,
	`created_at` integer NOT NULL,
	`handle` text,
	`verified_at` integer,
	`verified_by` text,
	`contested_at` integer,
	`ended_session_at` integer DEFAULT 0 NOT NULL,
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
	`device` text DEFAULT '' NOT NULL,
	`methods` text DEFAULT 'password' NOT NULL,
	`awaits` integer DEFAULT false NOT NULL,
	`network` text DEFAULT '' NOT NULL,
	`proved_at` integer DEFAULT 0 NOT NULL,
	`proved_generation` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `sessions_by_user` ON `sessions` (`user_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `settings` (
	`user_id` text PRIMARY KEY NOT NULL,
	`version` integer NOT NULL,
	`told_version` integer DEFAULT 0 NOT NULL,
	`receipts` integer NOT NULL,
	`presence` integer NOT NULL,
	`hides_address` integer DEFAULT false NOT NULL,
	`findable` text NOT NULL,
	`phone_in_groups` integer DEFAULT false NOT NULL,
	`group_adds` text DEFAULT 'contacts' NOT NULL,
	`requests_from` text DEFAULT 'everyone' NOT NULL,
	`calls_from` text DEFAULT 'contacts' NOT NULL,
	`picture_to` text DEFAULT 'everyone' NOT NULL,
	`phone_to` text DEFAULT 'contacts' NOT NULL,
	`statuses_to` text DEFAULT 'everyone' NOT NULL,
	`exceptions` text DEFAULT '{}' NOT NULL,
	`notices` text NOT NULL,
	`tala` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
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
CREATE UNIQUE INDEX `users_phone_unique` ON `users` (`phone`);--> statement-breakpoint
CREATE TABLE `account_security` (
	`user_id` text PRIMARY KEY NOT NULL,
	`email` text,
	`pending_email` text,
	`user_handle` text,
	`passkey_step` integer DEFAULT false NOT NULL,
	`has_codes` integer DEFAULT false NOT NULL,
	`reset_started_at` integer,
	`reset_stops` integer DEFAULT 0 NOT NULL,
	`reset_paused_until` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `account_security_email` ON `account_security` (`email`);--> statement-breakpoint
CREATE UNIQUE INDEX `account_security_handle` ON `account_security` (`user_handle`);--> statement-breakpoint
CREATE TABLE `auth_codes` (
	`hash` text PRIMARY KEY NOT NULL,
	`method` text NOT NULL,
	`user_id` text,
	`session_id` text,
	`provider` text,
	`subject` text,
	`email` text,
	`name` text,
	`code_challenge` text NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `auth_codes_by_user` ON `auth_codes` (`user_id`);--> statement-breakpoint
CREATE INDEX `auth_codes_by_expiry` ON `auth_codes` (`expires_at`);--> statement-breakpoint
CREATE TABLE `ceremonies` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`user_id` text,
	`session_id` text,
	`factor_id` text,
	`challenge` text NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `ceremonies_by_user` ON `ceremonies` (`user_id`);--> statement-breakpoint
CREATE INDEX `ceremonies_by_expiry` ON `ceremonies` (`expires_at`);--> statement-breakpoint
CREATE TABLE `factors` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`friendly_name` text NOT NULL,
	`secret` text NOT NULL,
	`is_verified` integer DEFAULT false NOT NULL,
	`last_step` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `factors_by_user` ON `factors` (`user_id`);--> statement-breakpoint
CREATE TABLE `identities` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`provider` text NOT NULL,
	`subject` text NOT NULL,
	`email` text,
	`name` text,
	`created_at` integer NOT NULL,
	`used_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `identities_by_subject` ON `identities` (`provider`,`subject`);--> statement-breakpoint
CREATE INDEX `identities_by_user` ON `identities` (`user_id`);--> statement-breakpoint
CREATE TABLE `mailed_tokens` (
	`hash` text PRIMARY KEY NOT NULL,
	`code_hash` text NOT NULL,
	`user_id` text NOT NULL,
	`type` text NOT NULL,
	`email` text NOT NULL,
	`misses` integer DEFAULT 0 NOT NULL,
	`code_challenge` text,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `mailed_tokens_by_user` ON `mailed_tokens` (`user_id`);--> statement-breakpoint
CREATE INDEX `mailed_tokens_by_email` ON `mailed_tokens` (`email`);--> statement-breakpoint
CREATE INDEX `mailed_tokens_by_expiry` ON `mailed_tokens` (`expires_at`);--> statement-breakpoint
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
	`is_refused` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`session_id`) REFERENCES `sessions`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `number_proofs_lookup_unique` ON `number_proofs` (`lookup`);--> statement-breakpoint
CREATE INDEX `number_proofs_by_session` ON `number_proofs` (`session_id`);--> statement-breakpoint
CREATE INDEX `number_proofs_by_expiry` ON `number_proofs` (`expires_at`);--> statement-breakpoint
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
CREATE TABLE `oauth_flows` (
	`state` text PRIMARY KEY NOT NULL,
	`provider` text NOT NULL,
	`nonce` text NOT NULL,
	`verifier` text NOT NULL,
	`redirect_to` text NOT NULL,
	`code_challenge` text NOT NULL,
	`user_id` text,
	`session_id` text,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `oauth_flows_by_user` ON `oauth_flows` (`user_id`);--> statement-breakpoint
CREATE INDEX `oauth_flows_by_expiry` ON `oauth_flows` (`expires_at`);--> statement-breakpoint
CREATE TABLE `passkeys` (
	`id` text PRIMARY KEY NOT NULL,
	`credential_id` text NOT NULL,
	`user_id` text NOT NULL,
	`public_key` text NOT NULL,
	`counter` integer NOT NULL,
	`transports` text DEFAULT '' NOT NULL,
	`is_synced` integer NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`used_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `passkeys_credential_id_unique` ON `passkeys` (`credential_id`);--> statement-breakpoint
CREATE INDEX `passkeys_by_user` ON `passkeys` (`user_id`);--> statement-breakpoint
CREATE TABLE `recovery_codes` (
	`user_id` text NOT NULL,
	`hash` text NOT NULL,
	PRIMARY KEY(`user_id`, `hash`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `tala_gone` (
	`user_id` text NOT NULL,
	`id` text NOT NULL,
	`gone_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `id`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `tala_gone_by_time` ON `tala_gone` (`gone_at`);--> statement-breakpoint
CREATE TABLE `tala_posts` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`user_id` text NOT NULL,
	`content` text NOT NULL,
	`width` integer,
	`height` integer,
	`thumb` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tala_posts_id_unique` ON `tala_posts` (`id`);--> statement-breakpoint
CREATE INDEX `tala_posts_by_user` ON `tala_posts` (`user_id`);--> statement-breakpoint
CREATE TABLE `tala_restricted_posts` (
	`number` real NOT NULL,
	`id` text NOT NULL,
	`user_id` text NOT NULL,
	`audience` text NOT NULL,
	`content` text NOT NULL,
	`width` integer,
	`height` integer,
	`thumb` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `number`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tala_restricted_posts_by_id` ON `tala_restricted_posts` (`user_id`,`id`);--> statement-breakpoint
CREATE INDEX `tala_restricted_posts_by_number` ON `tala_restricted_posts` (`number`,`user_id`,`audience`);
--> statement-breakpoint
-- Below: what drizzle-kit cannot express.
-- Phone search by any part of three digits or more, without the last four digits of a number: searches and their order must
-- not reveal those one by one. The full-text index keeps no copy of the numbers (FTS5 §4.4.2).
CREATE INDEX `profiles_by_head` ON `profiles` (substr(`phone`, 1, max(0, length(`phone`) - 4)));--> statement-breakpoint
CREATE VIRTUAL TABLE `profile_phone_heads` USING fts5(head, content='', tokenize='trigram');--> statement-breakpoint
CREATE TRIGGER `profile_phone_heads_insert` AFTER INSERT ON `profiles` BEGIN
	INSERT INTO `profile_phone_heads`(rowid, head) VALUES (new.number, substr(new.phone, 1, max(0, length(new.phone) - 4)));
END;
--> statement-breakpoint
CREATE TRIGGER `profile_phone_heads_delete` AFTER DELETE ON `profiles` BEGIN
	INSERT INTO `profile_phone_heads`(`profile_phone_heads`, rowid, head)
		VALUES ('delete', old.number, substr(old.phone, 1, max(0, length(old.phone) - 4)));
END;
--> statement-breakpoint
CREATE TRIGGER `profile_phone_heads_update` AFTER UPDATE OF `phone` ON `profiles` BEGIN
	INSERT INTO `profile_phone_heads`(`profile_phone_heads`, rowid, head)
		VALUES ('delete', old.number, substr(old.phone, 1, max(0, length(old.phone) - 4)));
	INSERT INTO `profile_phone_heads`(rowid, head) VALUES (new.number, substr(new.phone, 1, max(0, length(new.phone) - 4)));
END;
--> statement-breakpoint
-- Stored bytes of each person, counted when a file is announced, completed, removed or anonymized.
CREATE TRIGGER `storage_use_insert` AFTER INSERT ON `files` WHEN new.status <> 'removed' BEGIN
	INSERT INTO `storage_use` (`user_id`, `bytes`) SELECT `id`, 0 FROM `users` WHERE `id` = new.owner_id
		ON CONFLICT DO NOTHING;
	UPDATE `storage_use` SET `bytes` = `bytes` + coalesce(new.size, new.announced_size) WHERE `user_id` = new.owner_id;
END;
--> statement-breakpoint
CREATE TRIGGER `storage_use_update` AFTER UPDATE OF `owner_id`, `size`, `status` ON `files` BEGIN
	UPDATE `storage_use` SET `bytes` = max(0, `bytes` - coalesce(old.size, old.announced_size))
		WHERE `user_id` = old.owner_id AND old.status <> 'removed';
	UPDATE `storage_use` SET `bytes` = `bytes` + coalesce(new.size, new.announced_size)
		WHERE `user_id` = new.owner_id AND new.status <> 'removed';
END;
--> statement-breakpoint
CREATE TRIGGER `storage_use_delete` AFTER DELETE ON `files` WHEN old.status <> 'removed' BEGIN
	UPDATE `storage_use` SET `bytes` = max(0, `bytes` - coalesce(old.size, old.announced_size))
		WHERE `user_id` = old.owner_id;
END;
--> statement-breakpoint
-- Verified numbers have indexes of their own, so that unverified ones cannot fill the bounded part of an index that a
-- partial search reads. Built as those of all numbers above.
CREATE INDEX `profiles_verified_by_head` ON `profiles` (substr(`phone`, 1, max(0, length(`phone`) - 4)))
	WHERE `verified_at` IS NOT NULL;--> statement-breakpoint
CREATE VIRTUAL TABLE `verified_phone_heads` USING fts5(head, content='', tokenize='trigram');--> statement-breakpoint
CREATE TRIGGER `verified_phone_heads_insert` AFTER INSERT ON `profiles` WHEN new.verified_at IS NOT NULL BEGIN
	INSERT INTO `verified_phone_heads`(rowid, head) VALUES (new.number, substr(new.phone, 1, max(0, length(new.phone) - 4)));
END;
--> statement-breakpoint
CREATE TRIGGER `verified_phone_heads_delete` AFTER DELETE ON `profiles` WHEN old.verified_at IS NOT NULL BEGIN
	INSERT INTO `verified_phone_heads`(`verified_phone_heads`, rowid, head)
		VALUES ('delete', old.number, substr(old.phone, 1, max(0, length(old.phone) - 4)));
END;
--> statement-breakpoint
CREATE TRIGGER `verified_phone_heads_remove` AFTER UPDATE OF `phone`, `verified_at` ON `profiles`
	WHEN old.verified_at IS NOT NULL AND (new.verified_at IS NULL OR new.phone <> old.phone) BEGIN
	INSERT INTO `verified_phone_heads`(`verified_phone_heads`, rowid, head)
		VALUES ('delete', old.number, substr(old.phone, 1, max(0, length(old.phone) - 4)));
END;
--> statement-breakpoint
CREATE TRIGGER `verified_phone_heads_add` AFTER UPDATE OF `phone`, `verified_at` ON `profiles`
	WHEN new.verified_at IS NOT NULL AND (old.verified_at IS NULL OR new.phone <> old.phone) BEGIN
	INSERT INTO `verified_phone_heads`(rowid, head) VALUES (new.number, substr(new.phone, 1, max(0, length(new.phone) - 4)));
END;
--> statement-breakpoint
-- When somebody was last active, after their sessions have ended: who holds a number without using the account for long
-- loses it to whoever proves it. Pending sessions, which need a second factor, say nothing about it.
CREATE TRIGGER `ended_session` AFTER DELETE ON `sessions` WHEN old.awaits = 0 BEGIN
	UPDATE `profiles` SET `ended_session_at` = max(`ended_session_at`, old.refreshed_at) WHERE `id` = old.user_id;
END;

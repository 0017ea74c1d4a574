CREATE TABLE `push_endpoints` (
	`endpoint_hash` text PRIMARY KEY NOT NULL,
	`session_id` text NOT NULL,
	FOREIGN KEY (`session_id`) REFERENCES `sessions`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `push_endpoints_session_id_unique` ON `push_endpoints` (`session_id`);
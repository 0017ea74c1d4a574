CREATE TABLE `__new_call_feedback` (
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
INSERT INTO `__new_call_feedback`("call_id", "place", "side", "at", "good", "reason", "kind", "seconds") SELECT "call_id", '', "side", "at", "good", "reason", "kind", "seconds" FROM `call_feedback`;--> statement-breakpoint
DROP TABLE `call_feedback`;--> statement-breakpoint
ALTER TABLE `__new_call_feedback` RENAME TO `call_feedback`;

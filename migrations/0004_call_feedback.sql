CREATE TABLE `call_feedback` (
	`call_id` text NOT NULL,
	`side` text NOT NULL,
	`at` integer NOT NULL,
	`good` integer NOT NULL,
	`reason` text,
	`kind` text NOT NULL,
	`seconds` integer NOT NULL,
	PRIMARY KEY(`call_id`, `side`)
);

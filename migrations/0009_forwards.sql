-- Without a rowid: whoever passes something on costs one row and no index beside it.
CREATE TABLE `forwards` (
	`author_id` text NOT NULL,
	`conversation_id` text NOT NULL,
	`cleared` integer DEFAULT false NOT NULL,
	PRIMARY KEY(`author_id`, `conversation_id`)
) WITHOUT ROWID;

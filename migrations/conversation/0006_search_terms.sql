-- The search index gets terms for senders and kinds: searches build it anew.
DROP TABLE IF EXISTS search_index;
DROP TABLE IF EXISTS search_blocks;

ALTER TABLE inbox ADD COLUMN muted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE inbox ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
ALTER TABLE inbox ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
CREATE INDEX inbox_muted ON inbox (handle) WHERE muted = 1;

-- Whom one blocks was not said of people told of before.
UPDATE people SET relation = json_set(relation, '$.blocked', json('false'))
WHERE json_extract(relation, '$.blocked') IS NULL;

-- What devices were notified of, in the conversation's own row, so that both are one write (JSON): by session the seq of
-- the newest message, the time of the last push, and of the last one that made itself heard. Null without a push.
ALTER TABLE inbox ADD COLUMN push_mark TEXT;
UPDATE inbox SET push_mark = (
  SELECT json_object('heads', json(heads), 'pushedAt', pushed_at, 'soundedAt', sounded_at)
  FROM push_marks WHERE push_marks.conversation = inbox.conversation AND push_marks.epoch = inbox.epoch
)
WHERE conversation IN (SELECT conversation FROM push_marks);
DROP TABLE push_marks;

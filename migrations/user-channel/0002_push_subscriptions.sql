-- Push subscription of a session's device. `origin` is the public address under which it subscribed, `key` the server's
-- key that it subscribed with. `gone_at`: time at which its push service first did not know it, null otherwise.
CREATE TABLE push_subscriptions (
  session TEXT PRIMARY KEY,
  endpoint TEXT NOT NULL,
  p256dh TEXT NOT NULL,
  auth TEXT NOT NULL,
  key TEXT NOT NULL,
  language TEXT NOT NULL,
  origin TEXT NOT NULL,
  saved_at INTEGER NOT NULL,
  gone_at INTEGER
) WITHOUT ROWID;

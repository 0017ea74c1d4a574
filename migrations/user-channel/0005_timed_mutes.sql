-- End of a timed mute, null without one. A mute whose end has passed stays in the row and has no effect.
ALTER TABLE inbox ADD COLUMN muted_until INTEGER;

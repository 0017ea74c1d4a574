import { minuteMs } from "#contract/limits/durations.ts";
import { isKnownTimeZone, minutesPerDay, type QuietHours } from "./settings.ts";

const stepMinutes = 15;
const longestDayMinutes = 25 * 60; // a day on which the clocks are put back

type QuietSettings = { quietHours: QuietHours };

const clocks = new Map<string, Intl.DateTimeFormat>();

/** Clock of a zone. A zone unknown to this runtime, which another one accepted, becomes its own. */
const getClock = (timeZone: string): Intl.DateTimeFormat => {
  const options = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  const clock =
    clocks.get(timeZone) ??
    new Intl.DateTimeFormat("en-GB", isKnownTimeZone(timeZone) ? { ...options, timeZone } : options);
  clocks.set(timeZone, clock);
  return clock;
};

const toMinuteOfDay = (at: number, timeZone: string): number => {
  const [hour = 0, minute = 0] = getClock(timeZone).format(at).split(":").map(Number);
  return 60 * hour + minute;
};

/** Whether a time, in epoch milliseconds, is within the person's quiet hours. */
export const isQuiet = ({ quietHours: { isOn, from, to, timeZone } }: QuietSettings, at: number): boolean => {
  if (!isOn) return false;
  const minute = toMinuteOfDay(at, timeZone);
  return from < to ? from <= minute && minute < to : from <= minute || minute < to;
};

/** Whether calls are silent at a time: in quiet hours that do not allow them. */
export const isQuietForCalls = (settings: QuietSettings, at: number): boolean =>
  !settings.quietHours.allowsCalls && isQuiet(settings, at);

/**
 * End of the quiet hours that a time is within: the first later minute outside of them, whatever the clocks do
 * meanwhile. Undefined if the time is not quiet or they last the whole day.
 */
export const findQuietEnd = (settings: QuietSettings, at: number): number | undefined => {
  const { from, to } = settings.quietHours;
  if (!isQuiet(settings, at) || from === to) return undefined;
  const awakeMinutes = (from - to + minutesPerDay) % minutesPerDay;
  const step = Math.min(stepMinutes, awakeMinutes) * minuteMs; // does not step over the time between
  const latest = at + longestDayMinutes * minuteMs;
  let end = at - (at % minuteMs) + step;
  while (end <= latest && isQuiet(settings, end)) end += step;
  while (!isQuiet(settings, end - minuteMs)) end -= minuteMs;
  return end;
};

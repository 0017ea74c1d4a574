import * as v from "valibot";
import { describe, expect, it, test } from "vitest";
import { findQuietEnd, isQuiet, isQuietForCalls } from "#contract/settings/quiet-hours.ts";
import { defaultQuietHours, QuietHours, SettingsChange } from "#contract/settings/settings.ts";

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;

const toMinutes = (time: string): number => {
  const [hour = 0, minute = 0] = time.split(":").map(Number);
  return 60 * hour + minute;
};
const makeQuiet = (from: string, to: string, timeZone: string, rest: Partial<QuietHours> = {}) => ({
  quietHours: { ...defaultQuietHours, isOn: true, from: toMinutes(from), to: toMinutes(to), timeZone, ...rest },
});
const at = (text: string): number => Date.parse(text);
const quietAt = (settings: { quietHours: QuietHours }, text: string): boolean => isQuiet(settings, at(text));
const endAfter = (settings: { quietHours: QuietHours }, text: string): string | undefined => {
  const end = findQuietEnd(settings, at(text));
  return end === undefined ? undefined : new Date(end).toISOString().slice(0, 16);
};

describe("quiet hours", () => {
  it("begin with their first minute and end before their last, by the clock of the zone", () => {
    const kinshasa = makeQuiet("22:00", "07:00", "Africa/Kinshasa"); // UTC+1
    expect(quietAt(kinshasa, "2026-11-26T20:59:59Z")).toBe(false);
    expect(quietAt(kinshasa, "2026-11-26T21:00:00Z")).toBe(true);
    expect(quietAt(kinshasa, "2026-11-27T05:59:59Z")).toBe(true);
    expect(quietAt(kinshasa, "2026-11-27T06:00:00Z")).toBe(false);
    const lubumbashi = makeQuiet("22:00", "07:00", "Africa/Lubumbashi"); // UTC+2
    expect(quietAt(lubumbashi, "2026-11-26T20:00:00Z")).toBe(true);
    expect(quietAt(lubumbashi, "2026-11-27T05:00:00Z")).toBe(false);
  });

  it("may lie within a day", () => {
    const nap = makeQuiet("13:00", "15:30", "Asia/Kolkata"); // UTC+5:30
    expect(quietAt(nap, "2026-11-26T07:29:00Z")).toBe(false);
    expect(quietAt(nap, "2026-11-26T07:30:00Z")).toBe(true);
    expect(endAfter(nap, "2026-11-26T08:15:20Z")).toBe("2026-11-26T10:00");
    expect(quietAt(nap, "2026-11-26T10:00:00Z")).toBe(false);
  });

  it("are never while off, and always with equal times, which have no end", () => {
    const off = makeQuiet("22:00", "07:00", "UTC", { isOn: false });
    expect(quietAt(off, "2026-11-26T23:00:00Z")).toBe(false);
    expect(endAfter(off, "2026-11-26T23:00:00Z")).toBeUndefined();
    const always = makeQuiet("08:00", "08:00", "UTC");
    for (const time of ["00:00", "07:59", "08:00", "23:59"])
      expect(quietAt(always, `2026-11-26T${time}:00Z`)).toBe(true);
    expect(endAfter(always, "2026-11-26T12:00:00Z")).toBeUndefined();
  });

  it("follow a change of the clocks: 22:00 to 7:00 has 8 hours in spring and 10 in autumn", () => {
    const paris = makeQuiet("22:00", "07:00", "Europe/Paris");
    expect(endAfter(paris, "2026-03-28T21:00:00Z")).toBe("2026-03-29T05:00");
    expect(endAfter(paris, "2026-10-24T20:00:00Z")).toBe("2026-10-25T06:00");
    expect(quietAt(paris, "2026-10-25T05:59:00Z")).toBe(true);
    expect(quietAt(paris, "2026-03-29T05:00:00Z")).toBe(false);
    const newYork = makeQuiet("23:30", "06:15", "America/New_York");
    expect(endAfter(newYork, "2026-03-08T05:00:00Z")).toBe("2026-03-08T10:15");
    expect(endAfter(newYork, "2026-11-01T04:00:00Z")).toBe("2026-11-01T11:15");
  });

  it("end with the hour that is skipped if their last minute is in it", () => {
    const paris = makeQuiet("22:00", "02:30", "Europe/Paris"); // 2:00 becomes 3:00
    expect(endAfter(paris, "2026-03-28T23:00:00Z")).toBe("2026-03-29T01:00");
  });

  it("end although only a few minutes are left between them", () => {
    expect(endAfter(makeQuiet("07:04", "07:00", "UTC"), "2026-11-26T12:08:00Z")).toBe("2026-11-27T07:00");
  });

  test.each(["Africa/Kinshasa", "Europe/Lisbon", "America/St_Johns", "Pacific/Auckland", "Asia/Kathmandu"])(
    "in %s the found end is the first minute that is not quiet, at any time of two years",
    (timeZone) => {
      const settings = makeQuiet("21:45", "06:20", timeZone);
      for (
        let time = at("2026-01-01T00:07:31Z");
        time < at("2028-01-01T00:00:00Z");
        time += dayMs / 2 + 37 * minuteMs
      ) {
        const end = findQuietEnd(settings, time);
        expect(end === undefined).toBe(!isQuiet(settings, time));
        if (end === undefined) continue;
        expect(isQuiet(settings, end)).toBe(false);
        for (let quiet = time; quiet < end; quiet += 10 * minuteMs) expect(isQuiet(settings, quiet)).toBe(true);
        expect(isQuiet(settings, end - 1)).toBe(true);
      }
    },
  );

  it("silence calls unless these are allowed", () => {
    const [allowed, silent] = [true, false].map((allowsCalls) => makeQuiet("22:00", "07:00", "UTC", { allowsCalls }));
    const night = at("2026-11-26T23:00:00Z");
    expect(allowed && isQuietForCalls(allowed, night)).toBe(false);
    expect(silent && isQuietForCalls(silent, night)).toBe(true);
    expect(silent && isQuietForCalls(silent, at("2026-11-26T12:00:00Z"))).toBe(false);
  });

  test.each([
    { from: 1_440 },
    { to: -1 },
    { from: 1.5 },
    { timeZone: "Africa/Nowhere" },
    { timeZone: "" },
    { timeZone: "+05:30" },
    { timeZone: "-03:00" },
    { isOn: "yes" },
  ])("are refused with %j", (wrong) => {
    expect(v.is(SettingsChange, { quietHours: defaultQuietHours })).toBe(true);
    expect(v.is(SettingsChange, { quietHours: { ...defaultQuietHours, ...wrong } })).toBe(false);
  });

  test.each(["Africa/Kinshasa", "Asia/Kolkata", "UTC", "Etc/GMT-3"])("are accepted in the zone %s", (timeZone) => {
    expect(v.is(SettingsChange, { quietHours: { ...defaultQuietHours, timeZone } })).toBe(true);
  });

  it("that were stored with an offset, or in a zone that this device does not know, remain readable", () => {
    for (const timeZone of ["+05:30", "Africa/Nowhere"])
      expect(v.is(QuietHours, { ...defaultQuietHours, timeZone })).toBe(true);
    expect(quietAt(makeQuiet("22:00", "07:00", "+05:30"), "2026-11-26T17:00:00Z")).toBe(true);
  });
});

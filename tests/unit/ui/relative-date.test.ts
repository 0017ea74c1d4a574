import { describe, expect, it } from "vitest";
import { formatDate } from "#i18n/format.ts";
import { formatDayHeading, formatTimeOrDate } from "#i18n/relative-date.ts";
import { setClockSkew } from "#lib/browser/time/clock.ts";

const now = new Date(2026, 10, 20, 15, 30).getTime();
const at = (...parts: [number, number, number, number, number]) => new Date(...parts).getTime();

describe("times in lists", () => {
  it("shows two-digit hours and minutes for today, midnight as 00", () => {
    for (const language of ["fr", "en", "pt"] as const) {
      expect(formatTimeOrDate(at(2026, 10, 20, 9, 5), language, now)).toBe("09:05");
      expect(formatTimeOrDate(at(2026, 10, 20, 0, 0), language, now)).toBe("00:00");
    }
  });

  it("shows the short date for any other day, even minutes before midnight", () => {
    expect(formatTimeOrDate(at(2026, 10, 19, 23, 59), "fr", now)).toBe("19/11/26");
    expect(formatTimeOrDate(at(2026, 10, 21, 0, 0), "en", now)).toBe("21/11/26");
  });
});

describe("a date", () => {
  it("has the short name of its month in every language", () => {
    const day = at(2026, 10, 5, 12, 0);
    expect(formatDate(day, "fr")).toBe("05 nov. 2026");
    expect(formatDate(day, "en")).toBe("05 Nov 2026");
    expect(formatDate(day, "pt")).toBe("05 nov. 2026");
    expect(formatDate(at(2026, 4, 31, 12, 0), "pt")).toBe("31 mai. 2026");
  });
});

describe("a phone whose clock is wrong", () => {
  it("counts days by the server's time", () => {
    const dayMs = 86_400_000;
    const written = Date.now() - dayMs;
    expect(formatDayHeading(written, "fr")).toBe("Hier");
    setClockSkew(-dayMs); // The phone is a day ahead.
    expect(formatDayHeading(written, "fr")).toBe("Aujourd’hui");
    expect(formatTimeOrDate(written, "fr")).toMatch(/^\d\d:\d\d$/);
    setClockSkew(0);
  });
});

describe("headings of days", () => {
  it("are today and yesterday by the calendar, not by elapsed hours", () => {
    expect(formatDayHeading(at(2026, 10, 20, 0, 0), "fr", now)).toBe("Aujourd’hui");
    expect(formatDayHeading(at(2026, 10, 19, 23, 59), "fr", now)).toBe("Hier");
    expect(formatDayHeading(at(2026, 10, 19, 23, 59), "en", now)).toBe("Yesterday");
    expect(formatDayHeading(at(2026, 10, 19, 0, 0), "pt", now)).toBe("Ontem");
  });

  it("are the weekday for recent days, with the year for old ones and for a clock that runs ahead", () => {
    expect(formatDayHeading(at(2026, 10, 16, 12, 0), "fr", now)).toBe("Lundi 16 novembre");
    expect(formatDayHeading(at(2025, 11, 31, 12, 0), "fr", now)).toBe("31 déc. 2025");
    expect(formatDayHeading(at(2026, 10, 21, 12, 0), "fr", now)).toBe("21 nov. 2026");
  });
});

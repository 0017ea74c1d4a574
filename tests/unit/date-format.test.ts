import { describe, expect, it } from "vitest";
import { formatDay, formatTime, formatTimeOrDate } from "../../src/lib/date-format";

const now = new Date(2026, 10, 20, 15, 30).getTime();
const at = (...parts: [number, number, number, number, number]) => new Date(...parts).getTime();

describe("times of messages", () => {
  it("shows two-digit hours and minutes in every language, midnight as 00", () => {
    for (const language of ["fr", "en", "pt", "unknown"]) {
      expect(formatTime(at(2026, 10, 20, 9, 5), language)).toBe("09:05");
      expect(formatTime(at(2026, 10, 20, 0, 0), language)).toBe("00:00");
    }
  });

  it("shows the time for today and the short date for any other day", () => {
    expect(formatTimeOrDate(at(2026, 10, 20, 0, 1), "fr", now)).toBe("00:01");
    expect(formatTimeOrDate(at(2026, 10, 19, 23, 59), "fr", now)).toBe("19/11/26");
  });
});

describe("headings of days", () => {
  it("names today and yesterday by the calendar, not by hours passed", () => {
    expect(formatDay(at(2026, 10, 20, 0, 0), "fr", now)).toBe("Aujourd’hui");
    expect(formatDay(at(2026, 10, 19, 23, 59), "fr", now)).toBe("Hier");
    expect(formatDay(at(2026, 10, 19, 23, 59), "en", now)).toBe("Yesterday");
    expect(formatDay(at(2026, 10, 19, 0, 0), "pt", now)).toBe("Ontem");
  });

  it("says the weekday of recent days and the year of old ones", () => {
    expect(formatDay(at(2026, 10, 16, 12, 0), "fr", now)).toBe("Lundi 16 novembre");
    expect(formatDay(at(2025, 11, 31, 12, 0), "fr", now)).toBe("31 décembre 2025");
  });
});

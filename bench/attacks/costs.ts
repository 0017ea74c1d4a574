import { runRowsBench } from "#bench/rig/count-rows.ts";
import type { Section } from "#bench/rig/table.ts";
import type { WriteCosts } from "#bench/rows/report.ts";
import { fileBytesPerDay } from "#contract/limits/files.ts";

const framesPerRequest = 20;
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** Dollars per million: rows written, rows read, requests to objects, requests to the Worker. */
const prices = { written: 1, read: 0.001, objectRequests: 0.15, requests: 0.3 };

const isWrites = (reported: unknown): reported is WriteCosts =>
  typeof reported === "object" && reported !== null && "phase" in reported;

type Figures = Record<"sent" | "written" | "read" | "objectRequests" | "requests" | "stored", number>;

const toFigures = ({ sent, counts, bytes }: WriteCosts): Figures => ({
  sent,
  written: counts.objectRowsWritten + counts.d1RowsWritten,
  read: counts.objectRowsRead + counts.d1RowsRead,
  objectRequests: counts.objectRequests + counts.alarmsRun + counts.framesIn / framesPerRequest,
  requests: counts.framesIn > 0 ? 0 : sent,
  stored: bytes.d1 + bytes.objects + bytes.r2,
});

/** R2 takes up to half as much again as the daily limit of files: parts of uploads that are not complete. */
const r2BytesPerDay = 1.5 * fileBytesPerDay;

/** Part of `ms` in which files are accepted at the steady rate, before the daily limit refuses the rest. */
function countAcceptedMs(burst: WriteCosts, steady: WriteCosts, ms: number): number {
  const bytesPerMs = steady.bytes.r2 / steady.ms;
  return Math.min(ms, Math.max(0, r2BytesPerDay - burst.bytes.r2) / bytesPerMs);
}

/**
 * Extrapolates: the burst as measured, the remaining time at the steady rate. Files stop at their daily limit; what is
 * sent after it still costs its requests.
 */
function extrapolate(burst: WriteCosts, steady: WriteCosts, ms: number): Figures {
  const [first, later] = [toFigures(burst), toFigures(steady)];
  const share = (ms - burst.ms) / steady.ms;
  const acceptedShare = countAcceptedMs(burst, steady, ms - burst.ms) / steady.ms;
  const keys = Object.keys(first) as (keyof Figures)[];
  const isSent = (key: keyof Figures) => key === "sent" || key === "requests";
  return Object.fromEntries(
    keys.map((key) => [key, first[key] + later[key] * (isSent(key) ? share : acceptedShare)]),
  ) as Figures;
}

const toDollars = (figures: Figures): number =>
  Object.entries(prices).reduce((sum, [key, price]) => sum + (figures[key as keyof Figures] * price) / 1e6, 0);

const formatCount = (value: number): string => Math.round(value).toLocaleString("en");

/** Rows and bytes that one account can cause in a minute and in a day, with their price. */
export async function measureCosts(): Promise<Section> {
  const reported = (await runRowsBench("hostile", 1)).filter(isWrites);
  const rows = reported
    .filter(({ phase }) => phase === "burst")
    .map((burst): [number, string[]] => {
      const steady = reported.find((one) => one.attack === burst.attack && one.phase === "steady") ?? burst;
      const [minute, day] = [extrapolate(burst, steady, minuteMs), extrapolate(burst, steady, dayMs)];
      const dollars = toDollars(day);
      const row = [
        burst.attack,
        formatCount(minute.sent),
        formatCount(minute.written),
        formatCount(minute.read),
        `${(minute.stored / 1e6).toFixed(1)} MB`,
        formatCount(day.written),
        `${(day.stored / 1e9).toFixed(2)} GB`,
        `$${dollars.toFixed(2)}`,
      ];
      return [dollars, row];
    })
    .sort(([a], [b]) => b - a)
    .map(([, row]) => row);
  return {
    title: "What one account can have written and stored",
    columns: ["", "sent a minute", "rows written", "rows read", "stored", "rows a day", "stored a day", "a day"],
    rows,
    notes: [
      "Measured inside the runtime for five seconds and ten more, as fast as this machine answers: the minute and the day take the later rate for the rest of the time. Of the limits by the day only that of files is in it (fileBytesPerDay).",
      "Prices: rows written $1.00, read $0.001, requests to objects $0.15, to the Worker $0.30 a million, a frame as 1/20 request. The price of keeping what is stored comes on top.",
    ],
  };
}

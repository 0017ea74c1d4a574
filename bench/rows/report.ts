import type { Counts, MeasuredCosts } from "./counts.ts";

/** One line per measured thing, for what `per` messages or calls cost; bench/rig/count-rows.ts reads them out of the run's output. */
export function report(name: string, per: number, counts: Counts): void {
  console.log(`BENCH ${JSON.stringify({ name, per, counts } satisfies MeasuredCosts)}`);
}

/** A page of the feed as the product finds it, by the same bare statement, and by OFFSET: rows read, and milliseconds of every round. */
export type PageTimes = {
  page: number;
  rowsByNumber: number;
  rowsByOffset: number;
  byNumber: number[];
  byBareNumber: number[];
  byOffset: number[];
};
export function reportTimes(times: PageTimes): void {
  console.log(`BENCH ${JSON.stringify(times)}`);
}

/** What one account had written for so long: at first, while limits that allow a burst are full, and later. */
export type WriteCosts = {
  attack: string;
  phase: "burst" | "steady";
  ms: number;
  /** Frames or requests. */
  sent: number;
  counts: Counts;
  bytes: { d1: number; objects: number; r2: number };
  r2Puts: number;
};
export function reportWrites(writes: WriteCosts): void {
  console.log(`BENCH ${JSON.stringify(writes)}`);
}

import type { Counts, MeasuredCosts } from "./counts.ts";

/** Prints one line per result, for the cost of `per` operations; bench/rig/count-rows.ts parses them. */
export function report(name: string, per: number, counts: Counts, pushes?: number): void {
  const costs: MeasuredCosts = { name, per, counts, ...(pushes === undefined ? {} : { pushes }) };
  console.log(`BENCH ${JSON.stringify(costs)}`);
}

/**
 * A page of the feed as the product reads it, by a plain statement, and by OFFSET: rows read, and milliseconds of every
 * round.
 */
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

/** Writes caused by one account: first during the burst its limits allow, then at the steady rate. */
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

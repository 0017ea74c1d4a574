/** What the platform charges for, and what a page of a list or chat may cost. */
export type Counts = {
  objectRowsRead: number;
  objectRowsWritten: number;
  d1RowsRead: number;
  d1RowsWritten: number;
  /** Each also counts as a row written. */
  alarmsSet: number;
  alarmsRun: number;
  /** Calls from the Worker or another object. */
  objectRequests: number;
  /** Frames from devices; twenty are charged as one request. */
  framesIn: number;
};

/** What was counted while `per` of something (messages, calls) happened. */
export type MeasuredCosts = { name: string; per: number; counts: Counts };

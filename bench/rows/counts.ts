/** Units the platform charges for. */
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

/** Counts for `per` operations (messages, calls). `pushes`: requests to push services, if they are counted. */
export type MeasuredCosts = { name: string; per: number; counts: Counts; pushes?: number };

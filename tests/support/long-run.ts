/** Whether the simulations run in full, as `npm test -- long` does once a day. */
const isLongRun = process.env["LONG_RUN"] === "true";

/** Size of a simulation: `usual` in every run of the tests, `full` in a long one. */
export const toSimulationSize = <T>(usual: T, full: T): T => (isLongRun ? full : usual);

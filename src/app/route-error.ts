/** A place that does not exist or cannot be shown, with the HTTP status that says so. */
export class RouteError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
    this.name = "RouteError";
  }
}

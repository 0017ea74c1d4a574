/** Path at which a local build (`LOCAL_MAILBOX`) accepts another time. Other builds do not contain it. */
export const clockPath = "/dev/clock";

const SystemDate = Date;
let offsetMs = 0;

/** Date of the Worker and of all its objects, which share this global object on one machine. */
class ShiftedDate extends SystemDate {
  constructor(...parts: [] | [number | string | Date]) {
    if (parts.length === 0) super(SystemDate.now() + offsetMs);
    else super(...parts);
  }
  static override now(): number {
    return SystemDate.now() + offsetMs;
  }
}

/**
 * Sets the clock to the epoch milliseconds in the body, or back to the system time with an empty body. The demo writes
 * messages of past weeks this way (scripts/demo).
 */
export const setLocalClock = async (request: Request): Promise<Response> => {
  if (request.method !== "PUT") return new Response(null, { status: 405, headers: { allow: "PUT" } });
  const text = await request.text();
  const now = text === "" ? SystemDate.now() : Number(text);
  if (!Number.isSafeInteger(now) || now > SystemDate.now()) return new Response(null, { status: 400 });
  offsetMs = now - SystemDate.now();
  globalThis.Date = (text === "" ? SystemDate : ShiftedDate) as DateConstructor;
  return new Response(null, { status: 204 });
};

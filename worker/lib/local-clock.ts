/** Where a build for this machine (`LOCAL_MAILBOX`) may be set to another time. No other build contains this. */
export const clockPath = "/dev/clock";

const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];
const SystemDate = Date;
let offsetMs = 0;

/** The time of the Worker and of all its objects, which share this global object on one machine. */
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
 * Sets the clock to the epoch milliseconds in the body, or back to the machine's with an empty one. The demo writes messages
 * of past weeks this way (scripts/demo).
 */
export const setLocalClock = async (request: Request): Promise<Response> => {
  if (!loopbackNames.includes(new URL(request.url).hostname)) return new Response(null, { status: 421 });
  if (request.method !== "PUT") return new Response(null, { status: 405, headers: { allow: "PUT" } });
  const text = await request.text();
  const now = text === "" ? SystemDate.now() : Number(text);
  if (!Number.isSafeInteger(now) || now > SystemDate.now()) return new Response(null, { status: 400 });
  offsetMs = now - SystemDate.now();
  globalThis.Date = (text === "" ? SystemDate : ShiftedDate) as DateConstructor;
  return new Response(null, { status: 204 });
};

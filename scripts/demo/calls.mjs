// Calls between the demo's people, which leave entries in their chats.
import { callApi } from "./api.mjs";
import { ignoreErrors, stableId } from "./talk.mjs";
import { toEpochMs } from "./timeline.mjs";

const heartbeatMs = 15_000; // both devices send heartbeats more often than once a minute

/**
 * @param {string} origin
 * @param {ReturnType<typeof import("./timeline.mjs").createTimeline>} timeline
 * @param {{ id: string, path: string[], speakers: Record<string, any> }} chat
 * @param {any[]} calls of people.mjs: by whom, when, and how many seconds they lasted; none: nobody answered
 * @returns {import("./timeline.mjs").Event[]}
 */
export const createCallEvents = (origin, timeline, { id: conversation, path, speakers }, calls) =>
  calls.map(({ by, kind, when, seconds }, i) => {
    const [caller, callee] = by === "a" ? [speakers.a, speakers.b] : [speakers.b, speakers.a];
    const at = toEpochMs(when);
    const id = stableId(...path, "call", String(i));
    const devices = { caller: stableId(id, "caller"), callee: stableId(id, "callee") };
    const post = (person, place, body) =>
      callApi(origin, "POST", `/api/calls${place}`, { token: person.token, body: { conversation, ...body } });
    const run = async () => {
      const { over } = await post(caller, "", { call_id: id, type: kind, device: devices.caller });
      if (over) return;
      if (seconds === undefined) {
        await timeline.goTo(at + 25_000);
        await post(caller, `/${id}/end`, { device: devices.caller, status: "missed" });
        return;
      }
      await post(callee, `/${id}/answer`, { device: devices.callee });
      for (let ms = 0; ms < seconds * 1_000; ms += heartbeatMs) {
        await timeline.goTo(at + Math.min(ms + heartbeatMs, seconds * 1_000));
        await post(caller, `/${id}/beat`, { device: devices.caller });
        await post(callee, `/${id}/beat`, { device: devices.callee });
      }
      await post(callee, `/${id}/end`, { device: devices.callee, status: "ended" });
    };
    return { at, participants: [caller, callee], run: () => run().catch(ignoreErrors("call_not_found")) };
  });

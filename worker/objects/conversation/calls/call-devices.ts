import type { Uuid } from "#contract/ids.ts";
import { logWarning } from "#worker/lib/log.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";
import type { CallController } from "./call-controller.ts";

/**
 * Finds out whether the call that rings does so on a device of the callee, in an instance that replaced another one and
 * knows of no report. A page rings while it is connected, so the callee's channel is asked. A service worker that rings
 * asks about the call every few seconds, which wakes this object and is a report.
 */
export const requestRingState = async (env: Env, log: ConversationLog, controller: CallController): Promise<void> => {
  const { latest, open } = log.calls;
  if (!latest || open?.answeredAt !== null || open.ring !== "unknown") return;
  const callee = log.members.active.find(({ number }) => number !== open.caller);
  if (!callee) return;
  try {
    // A call that is hidden from the callee rings nowhere.
    const isRinging = !latest.isHiddenFromCallee && (await getUserChannelStub(env, callee.user).isConnected());
    controller.recoverRing(open.id, isRinging);
  } catch (error) {
    logWarning("asking whether a call rings failed", error); // it rings as long as usual
  }
};

/**
 * Ends the call if the peer's device has no connection to the server. A killed page leaves no socket behind; a device
 * in a tunnel keeps its socket, and the call waits for it.
 */
export const endUnreachableCall = async (
  env: Env,
  controller: CallController,
  member: Member,
  call: Uuid,
): Promise<void> => {
  const unreachable = controller.findUnreachable(member, call);
  if (!unreachable) return;
  const { user } = unreachable.other;
  try {
    if (!(await getUserChannelStub(env, user).mayReconnect(unreachable.device)))
      controller.endUnreachable(member, call);
  } catch (error) {
    logWarning("querying a device's connection failed", error);
  }
};

import type { Ringer } from "#calls/tones/ringer.ts";
import type { Call, DeviceId } from "#contract/calls/call.ts";
import type { CallEffect, CallEvent } from "#contract/calls/local-call.ts";
import type { CallMedia } from "./call-media.ts";
import type { CallRequests } from "./call-requests.ts";
import type { CallStatePort } from "./call-state-port.ts";
import type { PendingHangups } from "./pending-hangups.ts";

type CallEffectPort = Pick<CallStatePort, "getState" | "showNotice"> & {
  /** Latest server version of the current call. */
  getServerCall(): Call | undefined;
};

type EffectTargets = { media: CallMedia; ringer: Ringer; requests: CallRequests; hangups: PendingHangups };

/** Carries out the effects that the call state machine requests. */
export class CallEffectRunner {
  readonly #deviceId: DeviceId;
  readonly #targets: EffectTargets;
  readonly #port: CallEffectPort;

  constructor(deviceId: DeviceId, targets: EffectTargets, port: CallEffectPort) {
    this.#deviceId = deviceId;
    this.#targets = targets;
    this.#port = port;
  }

  /** Carries out one effect. `event` is the event that caused it; the state machine is already in its new state. */
  run(effect: CallEffect, event: CallEvent): void {
    const { media, ringer, requests, hangups } = this.#targets;
    const state = this.#port.getState();
    const call = state.phase === "idle" ? undefined : state.call;
    if (effect.type === "tone")
      ringer.setTone(effect.tone, call && { call: call.id, onStarted: () => this.#onRingStarted() });
    if (!call) return;
    switch (effect.type) {
      case "create":
        requests.dial(call);
        break;
      case "answer":
        void requests.answer(call);
        break;
      case "end": {
        const { type: _, ...end } = effect;
        const hangup = { conversation: call.conversation, call: call.id, device: this.#deviceId, ...end };
        hangups.add(hangup, requests.whenDialed(call.id)); // the server must receive the call before its end
        break;
      }
      case "media":
        if (effect.media === "stop") media.stop(call, event.type === "hangUp");
        // If a call rings in several tabs, only the tab that plays the ringtone prepares media (`#onRingStarted`).
        else if (effect.media === "prepare" && state.phase === "ringing") media.resetView();
        else media.runEffect(effect.media, call, this.#port.getServerCall());
        break;
      case "notify":
        this.#port.showNotice({ notice: effect.notice, error: effect.error, peer: call.peer });
        break;
      case "checkState":
        void requests.checkState(call);
        break;
    }
  }

  /** Reports a ringing call and prepares its media when this tab starts to ring. */
  #onRingStarted(): void {
    const state = this.#port.getState();
    const serverCall = this.#port.getServerCall();
    if (state.phase !== "ringing" || !serverCall) return;
    void this.#targets.requests.sendHeartbeat(state.call); // by which the server knows that a device rings
    this.#targets.media.runEffect("prepare", state.call, serverCall);
    this.#targets.media.session?.preconnect(serverCall.from_device);
  }
}

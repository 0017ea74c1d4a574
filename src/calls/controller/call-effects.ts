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

/** Carries out the effects of the state machine's steps. */
export class CallEffectRunner {
  readonly #deviceId: DeviceId;
  readonly #targets: EffectTargets;
  readonly #port: CallEffectPort;

  constructor(deviceId: DeviceId, targets: EffectTargets, port: CallEffectPort) {
    this.#deviceId = deviceId;
    this.#targets = targets;
    this.#port = port;
  }

  /** Runs an effect of a step to the current state. `event` caused the step. */
  run(effect: CallEffect, event: CallEvent): void {
    const { media, ringer, requests, hangups } = this.#targets;
    const state = this.#port.getState();
    const call = state.at === "idle" ? undefined : state.call;
    if (effect.type === "tone") ringer.setTone(effect.tone, () => this.#onRingAudible());
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
        hangups.add(hangup, requests.whenDialed(call.id)); // the end is sent after dialling has settled
        break;
      }
      case "media":
        if (effect.media === "stop") media.stop(call, event.type === "hangUp");
        // Of several ringing tabs only the one that plays the ringtone connects.
        else if (effect.media === "prepare" && state.at === "ringing") media.resetView();
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

  #onRingAudible(): void {
    const state = this.#port.getState();
    const serverCall = this.#port.getServerCall();
    if (state.at !== "ringing" || !serverCall) return;
    this.#targets.media.runEffect("prepare", state.call, serverCall);
    this.#targets.media.session?.preconnect(serverCall.from_device);
  }
}

import type { CallLink } from "#calls/link.ts";
import { type Choice, type Choices, choose, firstChoices, quietChoices } from "#calls/media/media-preferences.ts";
import type { MediaEvents, MediaPlane, MediaView } from "#calls/media/media-session.ts";
import type { CallWorld } from "#calls/world.ts";
import type { Call, Device } from "#contract/calls/call.ts";
import type { CallDeed, CallEvent, CallPlace } from "#contract/calls/call-machine.ts";
import type { IceServers } from "#contract/calls/ice.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { KeptCall } from "./saved-call.ts";

const nothing: MediaView = {
  mic: "waiting",
  camera: "off",
  local: undefined,
  remote: undefined,
  isSeenAgain: false,
  isVoiceOnly: false,
  peer: { isMuted: false, hasMic: true, hasVideo: false, isCameraOff: false, isVoiceOnly: false },
  quality: 0,
  bytes: 0,
  isUnheard: false,
};

/** So much a tab that is killed may leave uncounted. */
const useStepBytes = 200_000;

type Host = {
  step(event: CallEvent): void;
  changed(): void;
  /** The other side hung up, and said so itself. */
  left(): void;
  /** The call of this tab as it is now: of two that crossed, one is left. */
  call(): CallPlace | undefined;
  /** Once the server knows it. */
  known(): Promise<void>;
};

/** The media of this tab's call: made when they are first wanted, and gone with the call. */
export class CallMedia {
  readonly #link: CallLink;
  readonly #device: Device;
  readonly #world: Pick<CallWorld, "makeMedia" | "isThrifty" | "used">;
  readonly #host: Host;
  #plane: MediaPlane | undefined;
  #view = nothing;
  #startedWith: Device | undefined;
  /** What this call took, and what was chosen in it, before its page was loaded anew. */
  #earlier: KeptCall | undefined;
  /** What was chosen in the call of now: where several tabs ring, also before it has media. */
  #choices: Choices | undefined;
  /** Bytes of it that were told, for this tab may be gone before it is over. */
  #told = 0;
  /** Changes with every call: what an older one's media say is not heard. */
  #turn = 0;

  constructor(link: CallLink, device: Device, world: Pick<CallWorld, "makeMedia" | "isThrifty" | "used">, host: Host) {
    this.#link = link;
    this.#device = device;
    this.#world = world;
    this.#host = host;
  }

  get plane(): MediaPlane | undefined {
    return this.#plane;
  }

  get view(): MediaView {
    return this.#view;
  }

  /** What the call before left to be seen is not this one's. */
  forget(): void {
    if (!this.#plane) this.#view = nothing;
  }

  /** A call that is taken up again counts on from there. */
  recall(kept: KeptCall): void {
    this.#earlier = kept;
    this.#world.used(kept.id, kept.bytes); // should it not come to be taken up
  }

  get choices(): Choices {
    return this.#choices ?? quietChoices;
  }

  /** It is kept before it holds: a page that goes at this moment has it when it is back. */
  choose(choice: Choice, call: CallPlace, keep: () => void): void {
    const before = this.#choices ?? this.#choicesIn(call);
    const after = choose(before, choice);
    this.#choices = after;
    keep();
    const plane = this.#plane;
    if (!plane) return;
    if ("isMuted" in choice) plane.setMuted(choice.isMuted);
    if ("device" in choice && choice.device !== "audiooutput") plane.setInput(choice.device, choice.id);
    if ("takesPictures" in choice) plane.setPictures(choice.takesPictures);
    if ("isCameraOn" in choice || after.isCameraOn !== before.isCameraOn) plane.setCamera(after.isCameraOn);
  }

  #choicesIn({ id, kind }: CallPlace): Choices {
    return this.#earlier?.id === id ? this.#earlier.choices : firstChoices(kind);
  }

  do(
    deed: Exclude<Extract<CallDeed, { do: "media" }>["media"], "stop">,
    call: CallPlace,
    told: Call | undefined,
  ): void {
    const plane = this.#plane ?? this.#make(call);
    if (deed === "open") plane.open();
    if (deed !== "start") return;
    const device = call.isCaller ? told?.to_device : told?.from_device;
    if (!device || device === this.#startedWith) return;
    this.#startedWith = device;
    plane.start(device);
  }

  stop({ id }: CallPlace, isHungUp: boolean): void {
    const plane = this.#plane;
    this.#choices = undefined;
    if (!plane) return;
    this.#turn++;
    this.#plane = undefined;
    this.#startedWith = undefined;
    this.#world.used(id, this.#view.bytes);
    // How much it was stands on the screen for a moment yet.
    this.#view = { ...this.#view, local: undefined, remote: undefined };
    plane.stop(isHungUp);
  }

  #make(call: CallPlace): MediaPlane {
    const { me } = this.#link;
    const turn = ++this.#turn;
    const { bytes } = this.#earlier?.id === call.id ? this.#earlier : nothing;
    this.#told = bytes;
    const choices = this.#choices ?? this.#choicesIn(call);
    this.#choices = choices;
    const camera = choices.isCameraOn ? "waiting" : "off";
    this.#view = { ...nothing, bytes, camera, isVoiceOnly: !choices.takesPictures };
    const plane = this.#world.makeMedia(
      {
        choices,
        isPolite: me > call.peer,
        device: this.#device,
        isCaller: call.isCaller,
        iceServers: () => this.#iceServers(),
        isThrifty: this.#world.isThrifty(),
      },
      this.#events(turn, bytes),
    );
    this.#plane = plane;
    plane.prepare();
    return plane;
  }

  #events(turn: number, earlier: number): MediaEvents {
    const isCurrent = () => turn === this.#turn;
    const step = (type: "heard" | "failed") => () => {
      if (isCurrent()) this.#host.step({ type });
    };
    return {
      heard: step("heard"),
      interrupted: (silentMs) => {
        if (isCurrent()) this.#host.step({ type: "interrupted", at: this.#link.platform.now() - silentMs });
      },
      failed: step("failed"),
      left: () => {
        if (isCurrent()) this.#host.left();
      },
      suspect: () => {
        if (isCurrent()) this.#link.look();
      },
      changed: (view) => {
        if (!isCurrent()) return;
        this.#view = { ...view, bytes: view.bytes + earlier };
        this.#tellUse();
        this.#host.changed();
      },
      send: (to, signal) => {
        const call = this.#host.call();
        if (!call || !isCurrent()) return;
        const { id, conversation } = call;
        // What is lost the media say again.
        this.#link
          .ask({ type: "signal", conversation, call: id, from: this.#device, to, signal })
          .catch(() => undefined);
      },
    };
  }

  #tellUse(): void {
    const { bytes } = this.#view;
    const call = this.#host.call();
    if (!call || bytes < this.#told + useStepBytes) return;
    this.#told = bytes;
    this.#world.used(call.id, bytes);
  }

  async #iceServers(): Promise<IceServers> {
    await this.#host.known();
    const call = this.#host.call();
    if (!call) throw new SyncError("call_not_found");
    return this.#link.iceServers(call.id);
  }
}

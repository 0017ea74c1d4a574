import type { CallLink } from "#calls/link.ts";
import { firstChoices } from "#calls/media/media-preferences.ts";
import type { Call, Device } from "#contract/calls/call.ts";
import type { CallPlace, CallState } from "#contract/calls/call-machine.ts";
import { toHere } from "./call-requests.ts";
import { callLockOf } from "./join.ts";
import type { Ends } from "./pending-hangups.ts";
import type { KeptCall } from "./saved-call.ts";

const lookMs = 500;
const goneMs = 1_500; // a page that is loaded anew mostly has its call again by then

/** This browser's call, as a tab sees it that does not have it. */
export type OtherTabCall = {
  call: CallPlace;
  /** No tab has it any more: the one that had it was closed. */
  isGone: boolean;
};

export type OtherTabHost = {
  state(): CallState;
  /** This tab has a call, or one is coming into it. */
  hasCall(): boolean;
  changed(): void;
  /** It comes into this tab. */
  rejoin(call: KeptCall): void;
};

/** The call of this browser that is in another of its tabs, for as long as that tab lives, and a while longer. */
export class OtherTab {
  readonly #link: CallLink;
  readonly #device: Device;
  readonly #ends: Ends;
  readonly #host: OtherTabHost;
  readonly #lock: string;
  #freeSince: number | undefined;
  /** Of the call whose tab is gone. */
  #bytes = 0;
  #cancel: (() => void) | undefined;
  /** What was given last: the same again while it says the same. */
  #view: OtherTabCall | undefined;

  constructor(link: CallLink, device: Device, ends: Ends, host: OtherTabHost) {
    this.#link = link;
    this.#device = device;
    this.#ends = ends;
    this.#host = host;
    this.#lock = callLockOf(link.me);
  }

  /** Those that are under way in this browser, in whichever of its tabs. */
  get calls(): Call[] {
    const state = this.#host.state();
    const over = state.at === "ended" ? state.call.id : undefined;
    const open = this.#link.news.open.get().filter((call) => this.isOfThisBrowser(call));
    return open.filter(({ call_id }) => call_id !== over && !this.#ends.has(call_id));
  }

  /** Whether this browser has a side of it, also of one whose end the server has yet to hear of. */
  isOfThisBrowser({ from_device, to_device }: Call): boolean {
    return from_device === this.#device || to_device === this.#device;
  }

  get view(): OtherTabCall | undefined {
    const call = this.#call;
    const isGone = this.#freeSince !== undefined && this.#link.platform.now() >= this.#freeSince + goneMs;
    const before = this.#view;
    if (!call) this.#view = undefined;
    else if (before?.call.id !== call.call_id || before.isGone !== isGone)
      this.#view = { call: this.#placeOf(call), isGone };
    return this.#view;
  }

  /** Follows whether there is one, and whether its tab lives. */
  look(): void {
    if (!this.#call) this.stop();
    else if (!this.#cancel) this.#watch();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#freeSince = undefined;
  }

  /** They end, whoever has them; the server tells that tab. */
  hangUp(): void {
    for (const { call_id: call, conversation, answered_at } of this.calls) {
      this.#ends.add({ conversation, call, device: this.#device, status: answered_at === null ? "missed" : "ended" });
    }
    this.look();
    this.#host.changed();
  }

  /** Takes up the one whose tab is gone, as if this page had had it: its person is heard, and seen when they want to be. */
  resume(): void {
    const call = this.#call;
    if (!call || !this.view?.isGone) return;
    const { answered_at } = toHere(this.#link, call);
    this.#host.rejoin({
      me: this.#link.me,
      device: this.#device,
      ...this.#placeOf(call),
      at: answered_at === null ? "outgoing" : "connected",
      since: answered_at ?? undefined,
      bytes: this.#bytes,
      choices: firstChoices("audio"),
      aliveAt: this.#link.platform.now(),
    });
  }

  get #call(): Call | undefined {
    return this.#host.hasCall() ? undefined : this.calls[0];
  }

  #placeOf({ call_id: id, conversation, from, to, from_device, type: kind }: Call): CallPlace {
    const isCaller = from === this.#link.me && from_device === this.#device;
    return { id, conversation, peer: isCaller ? to : from, kind, isCaller };
  }

  #watch(): void {
    const { platform } = this.#link;
    this.#cancel = platform.after(lookMs, () => {
      void this.#lookOnce().then(([has, bytes]) => {
        if (!this.#cancel) return; // nobody wants to know any more
        this.#bytes = bytes;
        this.#freeSince = has ? undefined : (this.#freeSince ?? platform.now());
        this.#watch();
        if (this.#view !== this.view) this.#host.changed();
      });
    });
  }

  async #lookOnce(): Promise<[has: boolean, bytes: number]> {
    const call = this.#call;
    const has = await this.#hasTab();
    return [has, has || !call ? 0 : await this.#link.usedBy(call.call_id)];
  }

  /** Where there are no locks nobody can tell. */
  async #hasTab(): Promise<boolean> {
    const { locks } = this.#link.platform;
    const { held = [] } = (await locks?.query().catch(() => undefined)) ?? { held: [{ name: this.#lock }] };
    return held.some(({ name }) => name === this.#lock);
  }
}

import type { CallSyncPort } from "#calls/sync-port.ts";
import { TabLock } from "#calls/tab-lock.ts";
import type { Uuid } from "#contract/ids.ts";
import type { Tone } from "./tones.ts";

const hiddenTabDelayMs = 300; // a visible tab comes first
const notificationWaitMs = 4_000; // the server pushes a call to a page in the background after one second

type RingerPort = Pick<
  CallSyncPort,
  "me" | "platform" | "isRingAudible" | "hasSystemNotifications" | "subscribeRingNotification"
>;

/** Incoming call to ring for. `onStarted` is called when this tab, and no other of this browser, rings for it. */
type Ring = { call: Uuid; onStarted: () => void };

/**
 * Plays the call tones of this tab. Of several ringing tabs one plays the ringtone, or only vibrates if the person has
 * turned call sounds off. A hidden tab is silent if a notification of the call sounds on this device.
 */
export class Ringer {
  readonly #sync: RingerPort;
  readonly #playTone: (tone: Tone) => void;
  readonly #ringLock: TabLock;
  #currentTone: Tone = "none";
  /** Incremented with every tone, so that earlier waits are ignored. */
  #generation = 0;
  #stopRingtone = () => {};

  constructor(sync: RingerPort, play: (tone: Tone) => void) {
    this.#sync = sync;
    this.#playTone = play;
    this.#ringLock = new TabLock(sync.platform, `lisolo-ring-${sync.me}`);
  }

  /** Switches to a tone. A ringtone needs the call it rings for. */
  setTone(tone: Tone, call?: Ring): void {
    const generation = ++this.#generation;
    this.#ringLock.release();
    this.#stopRingtone();
    this.#switchTo(tone === "ringtone" ? "none" : tone);
    if (tone !== "ringtone" || !call) return;
    const { platform } = this.#sync;
    const ring = async () => {
      if (generation !== this.#generation || !(await this.#ringLock.acquire()) || generation !== this.#generation)
        return;
      // If the setting cannot be read, ringing too much is better than a missed call.
      const isLoud = await this.#sync.isRingAudible().catch(() => true);
      if (generation !== this.#generation) return;
      if (isLoud) this.#startRingtone(call.call);
      else this.#switchTo("vibrate");
      call.onStarted();
    };
    platform.startTimer(platform.isVisible() ? 0 : hiddenTabDelayMs, () => void ring());
  }

  /**
   * Plays the ringtone, but not while the page is hidden and a notification of the call sounds. A page that is hidden
   * from the beginning waits for the notification, and rings if none is shown in time.
   */
  #startRingtone(call: Uuid): void {
    const { platform } = this.#sync;
    let isNotified = false;
    let isWaiting = !platform.isVisible();
    const update = () => {
      const isReplaced = (isNotified || isWaiting) && !platform.isVisible() && this.#sync.hasSystemNotifications();
      this.#switchTo(isReplaced ? "none" : "ringtone");
    };
    const unsubscribers = [
      this.#sync.subscribeRingNotification(call, () => {
        isNotified = true;
        update();
      }),
      platform.startTimer(notificationWaitMs, () => {
        isWaiting = false;
        update();
      }),
      platform.onWake(update),
      platform.onLeave(update),
    ];
    this.#stopRingtone = () => {
      for (const unsubscribe of unsubscribers.splice(0)) unsubscribe();
    };
    update();
  }

  #switchTo(tone: Tone): void {
    if (tone !== this.#currentTone) this.#playTone(tone);
    this.#currentTone = tone;
  }
}

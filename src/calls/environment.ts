import type { Uuid } from "#contract/ids.ts";
import type { CreateMediaSession } from "./media/media-session.ts";
import type { Tone } from "./tones/tones.ts";
import type { CallNotice, CallView } from "./views.ts";

/** Access of the call controller to the page it runs in. */
export type CallEnvironment = {
  createMedia: CreateMediaSession;
  playTone(tone: Tone): void;
  /** Storage of this tab that survives a reload. */
  storage: Pick<Storage, "getItem" | "setItem" | "removeItem"> | undefined;
  /** Whether the browser asks before the page is closed. */
  setUnloadGuard(isOn: boolean): void;
  isOnline(): boolean;
  isDataSaver(): boolean;
  showCall(view: CallView | undefined): void;
  showNotice(notice: CallNotice): void;
  /** Records the bytes sent and received since the call began. Repeated reports keep the maximum. */
  recordDataUse(call: Uuid, bytes: number): void;
};

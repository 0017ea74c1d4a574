import type { Uuid } from "#contract/ids.ts";
import type { CreateMediaSession } from "./media/media-session.ts";
import type { Tone } from "./tones/tones.ts";
import type { CallNotice, CallView } from "./views.ts";

/** What the engine has of the page it runs in. */
export type CallEnvironment = {
  createMedia: CreateMediaSession;
  playTone(tone: Tone): void;
  /** What this very tab keeps when it is loaded anew. */
  storage: Pick<Storage, "getItem" | "setItem" | "removeItem"> | undefined;
  /** Whether leaving the page is asked about. */
  setUnloadGuard(isOn: boolean): void;
  isOnline(): boolean;
  isDataSaver(): boolean;
  showCall(view: CallView | undefined): void;
  showNotice(saying: CallNotice): void;
  /** So many bytes went both ways since the call began; told again, the most counts. */
  recordDataUse(call: Uuid, bytes: number): void;
};

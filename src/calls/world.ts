import type { Uuid } from "#contract/ids.ts";
import type { MakeMedia } from "./media/media-session.ts";
import type { Tone } from "./tones/tones.ts";
import type { CallSaying, CallView } from "./views.ts";

/** What the engine has of the page it runs in. */
export type CallWorld = {
  makeMedia: MakeMedia;
  playTone(tone: Tone): void;
  /** What this very tab keeps when it is loaded anew. */
  storage: Pick<Storage, "getItem" | "setItem" | "removeItem"> | undefined;
  /** Whether leaving the page is asked about. */
  guard(isOn: boolean): void;
  isOnline(): boolean;
  isThrifty(): boolean;
  show(view: CallView | undefined): void;
  say(saying: CallSaying): void;
  /** So many bytes went both ways since the call began; told again, the most counts. */
  used(call: Uuid, bytes: number): void;
};

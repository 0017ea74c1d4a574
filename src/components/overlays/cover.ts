import { useLayoutEffect } from "react";
import { Observable } from "#lib/browser/observable.ts";

/** Open layers above something. */
class Cover {
  readonly isCovered = new Observable(false);
  #layerCount = 0;

  change(by: 1 | -1): void {
    this.#layerCount += by;
    this.isCovered.set(this.#layerCount > 0);
  }
}

/** Layers above the page: dialogs, sheets, menus, pictures, the camera, calls. What is below them is not seen. */
export const pageCover = new Cover();

/** Layers that hide the composer of the open chat, and with it a running recording. Small dialogs and menus do not. */
export const composerCover = new Cover();

/** Registers the component as a layer while it is open. */
export const useLayer = (cover: Cover, isOpen = true): void =>
  useLayoutEffect(() => {
    if (!isOpen) return;
    cover.change(1);
    return () => cover.change(-1);
  }, [cover, isOpen]);

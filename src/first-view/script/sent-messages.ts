import { fixRowHeights } from "./rows.ts";

/** Draws the texts that are sent in a first view as the app draws them (`src/features/chat/message`). */
export const createSentMessages = (view: HTMLElement) => {
  const template = view.querySelector<HTMLTemplateElement>("#first-sent");
  const { now, newest, run, ownRun, locale } = template?.dataset ?? {};
  // The time of a snapshot is that of its drawing.
  const clockSkewMs = view.dataset["day"] ? 0 : Number(now) - Date.now();
  let last = { at: Number(newest), runMs: Number(run) };
  const rows = new Map<string, HTMLElement>();

  const writeTime = (row: HTMLElement, at: number) => {
    const time = new Date(at).toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" });
    const [shown, spacer] = [row.querySelector("time"), row.querySelector<HTMLElement>("[data-time]")];
    if (shown) shown.textContent = time;
    if (spacer) spacer.dataset["time"] = time;
  };

  return {
    /** Server's time of a time of the device. */
    toServerTime: (at: number): number => at + clockSkewMs,
    /** Draws a message with a clock. `at`: when it was written or stored, by the clock of the server. */
    draw(cid: string, text: string, at: number): void {
      const [row, heading] = (template?.content.cloneNode(true) as DocumentFragment | undefined)?.children ?? [];
      const list = view.querySelector("ol");
      if (!(row instanceof HTMLElement && heading && list)) return;
      const previous = list.lastElementChild;
      if (new Date(at).toDateString() !== new Date(last.at).toDateString()) previous?.append(heading);
      else if (at - last.at < last.runMs) {
        previous?.querySelector(".pb-2")?.classList.replace("pb-2", "pb-0.5");
        previous?.querySelector(".bg-own")?.classList.remove("rounded-br-[6px]");
      }
      row.querySelector("bdi")?.prepend(text);
      writeTime(row, at);
      list.append(row);
      fixRowHeights(previous instanceof HTMLElement ? [previous, row] : [row]);
      if (list.parentElement?.parentElement) list.parentElement.parentElement.scrollTop = 0; // its end
      rows.set(cid, row);
      last = { at, runMs: Number(ownRun) };
    },
    /** Shows the tick of a stored message, and the server's time of it if that is known. */
    markStored(cid: string, at: number | undefined): void {
      const row = rows.get(cid);
      const tick = template?.content.lastElementChild?.cloneNode(true);
      if (row && tick) row.querySelector("[role=img]")?.replaceWith(tick);
      if (row && at !== undefined) writeTime(row, at);
    },
  };
};

import type { animateEntrance } from "#lib/browser/page/row-entrance.ts";
import type { createEarlySender, EarlySenderOptions } from "./early-sender.ts";

/** Functions and values of modules that the inline script needs. */
export type EarlyInputOptions = Pick<
  EarlySenderOptions,
  "personHeader" | "transportHeader" | "sessionLock" | "refreshMarginMs"
> & {
  createUuid: () => string;
  createEarlySender: typeof createEarlySender;
  isComposingKey: (event: KeyboardEvent) => boolean;
  animateEntrance: typeof animateEntrance;
  /** Key in `sessionStorage` of a message from the document before, such as "Log-in successful". */
  flashMessageKey: string;
};

/**
 * Input in a first view before the app has loaded. The source text of this function is the inline script of the
 * document, so it uses nothing from any module but its options. It removes a view of another person, and writes what is
 * typed and sent to the keys of `src/sync/store/journal.ts`, where the app finds it, at once or after a reload.
 */
export const startEarlyInput = ({
  createUuid,
  createEarlySender,
  isComposingKey,
  animateEntrance,
  ...options
}: EarlyInputOptions): void => {
  const view = document.getElementById("first-view");
  if (!view?.firstChild) return;
  const { user = "" } = view.dataset;
  const removeUnlessSignedIn = () => {
    let signedIn: unknown;
    try {
      signedIn = JSON.parse(localStorage["session"]).userId;
    } catch {
      // Nobody is signed in here.
    }
    if (signedIn === user || !view.isConnected) return;
    view.remove();
    document.getElementById("first-data")?.remove();
    document.getElementById("root")?.removeAttribute("inert");
  };
  removeUnlessSignedIn();
  if (!view.isConnected) return;
  // The session may end in another tab, or while the browser keeps this page for the back button.
  addEventListener("storage", removeUnlessSignedIn);
  addEventListener("pageshow", removeUnlessSignedIn);
  document.getElementById("root")?.setAttribute("inert", "");
  requestAnimationFrame(() =>
    setTimeout(() => {
      view.dataset["painted"] = ""; // shows the icons
    }),
  );
  // A snapshot of another day: "14:05" and "Today" have become dates.
  const { day } = view.dataset;
  if (day && day !== new Date().toDateString()) {
    for (const element of view.querySelectorAll<HTMLElement>("[data-at]"))
      element.textContent = new Date(Number(element.dataset["at"])).toLocaleDateString(document.documentElement.lang);
  }
  // Whole pixels, as the app's virtual list measures its rows.
  const fixHeights = (rows: readonly HTMLElement[]) => {
    for (const row of rows) row.style.height = "";
    const heights = rows.map((row) => row.getBoundingClientRect().height);
    rows.forEach((row, index) => {
      row.style.height = `${Math.round(heights[index] ?? 0)}px`;
    });
  };
  fixHeights([...view.querySelectorAll<HTMLElement>("#first-scroller li")]);
  // After a sign-in the list is new to the eye: its rows enter one by one.
  const isStill =
    document.documentElement.matches("[data-look~=still]") || matchMedia("(prefers-reduced-motion)").matches;
  if (!isStill && sessionStorage[options.flashMessageKey])
    for (const [index, row] of view.querySelectorAll("[data-rows] > li > div").entries()) animateEntrance(row, index);
  let sentAtMs = Number.NEGATIVE_INFINITY;
  const ignoredAfterSendMs = 600; // the second tap of a double tap on "send" does not record
  const forgetPress = () => {
    for (const pressed of view.querySelectorAll("[data-early]")) pressed.removeAttribute("data-early");
  };
  view.addEventListener("click", ({ target, timeStamp }) => {
    const button = target instanceof Element && target.closest("button");
    if (!button) return;
    const isSubmit = button.type === "submit";
    if (isSubmit && timeStamp - sentAtMs < ignoredAfterSendMs && !field?.value.trim()) return;
    forgetPress();
    if (!isSubmit || !field?.value.trim()) button.dataset["early"] = "";
  });
  view.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  for (const type of ["compositionstart", "compositionupdate", "compositionend"]) {
    view.addEventListener(type, () => {
      if (type === "compositionend") delete view.dataset["composed"];
      else view.dataset["composed"] = String(performance.now()); // the app does not take over in the middle
    });
  }
  const form = view.querySelector<HTMLFormElement>("#first-composer");
  const field = form?.querySelector("textarea");
  const store = `lisolo-${user}`;
  const conversation = view.dataset["conversation"] ?? "";
  const draftKey = `${store}-early-${conversation}`;
  const hasNativeSizing = CSS.supports("field-sizing", "content");
  const show = () => {
    if (!form || !field) return;
    const hasText = field.value.trim() !== "";
    const [record, plane] = form.querySelectorAll<HTMLElement>("[type=submit] > span");
    const button = form.querySelector<HTMLElement>("[type=submit]");
    if (record) record.hidden = hasText;
    if (plane) plane.hidden = !hasText;
    const label = button?.dataset[hasText ? "send" : "record"] ?? "";
    button?.setAttribute("aria-label", label);
    button?.setAttribute("title", label);
    if (hasNativeSizing) return;
    field.style.height = "0";
    field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
  };
  const save = () => {
    show();
    try {
      if (field?.value.trim()) localStorage.setItem(draftKey, field.value);
      else localStorage.removeItem(draftKey);
    } catch {
      // No room: the text stays in the field.
    }
  };
  const template = view.querySelector<HTMLTemplateElement>("#first-sent");
  const { now, newest, run, ownRun, locale } = template?.dataset ?? {};
  const clockSkewMs = day ? 0 : Number(now) - Date.now(); // the time of a snapshot is that of its drawing
  let last = { at: Number(newest), runMs: Number(run) };
  const writeTime = (row: HTMLElement, at: number) => {
    const time = new Date(at).toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" });
    const [shown, spacer] = [row.querySelector("time"), row.querySelector<HTMLElement>("[data-time]")];
    if (shown) shown.textContent = time;
    if (spacer) spacer.dataset["time"] = time;
  };
  const sentRows = new Map<string, HTMLElement>();
  /** Draws a sent text as the app draws it (`src/features/chat/message`). */
  const drawSent = (cid: string, text: string, at = Date.now() + clockSkewMs) => {
    const [row, heading] = (template?.content.cloneNode(true) as DocumentFragment | undefined)?.children ?? [];
    const list = view.querySelector("ol");
    if (!(row instanceof HTMLElement && heading && list)) return;
    const previous = list.lastElementChild;
    if (new Date(at).toDateString() !== new Date(last.at).toDateString()) previous?.append(heading);
    else if (at - last.at < last.runMs) {
      previous?.querySelector(".pb-2")?.classList.replace("pb-2", "pb-0.5");
      previous?.querySelector(".bg-own")?.classList.remove("rounded-br-[6px]");
    }
    const bubble = row.querySelector("bdi");
    bubble?.prepend(text);
    writeTime(row, at);
    list.append(row);
    fixHeights(previous instanceof HTMLElement ? [previous, row] : [row]);
    if (list.parentElement?.parentElement) list.parentElement.parentElement.scrollTop = 0; // its end
    sentRows.set(cid, row);
    last = { at, runMs: Number(ownRun) };
  };
  const showStored = (cid: string, at: number) => {
    const row = sentRows.get(cid);
    const tick = template?.content.lastElementChild?.cloneNode(true);
    if (row && tick) row.querySelector("[role=img]")?.replaceWith(tick);
    if (row) writeTime(row, at);
  };
  const sender = createEarlySender({
    ...options,
    view,
    user,
    conversation,
    store,
    onStored: showStored,
  });
  /** Whether a text is accepted as it is. The app cleans or explains others. */
  const isOrdinary = (text: string) =>
    /[\p{L}\p{N}\p{P}\p{S}]/u.test(text.replace(/[\u115f\u1160\u2800\u3164\uffa0\ufffc\u{1d159}]/gu, "")) &&
    !/(?![\t\n])\p{Cc}|\p{Surrogate}/u.test(text);
  const appDraftKey = `${store}-draft-${conversation}`;
  /** Text of this field that another tab may have made a draft of the app; it ends when the text is sent. */
  let moved: string | null = null;
  const send = () => {
    const text = field?.value.trim();
    if (!field || !text) return;
    const cid = createUuid();
    let n = 1;
    try {
      for (const other of Object.keys(localStorage))
        if (other.startsWith(`${store}-sent-`)) n = Math.max(n, JSON.parse(localStorage[other]).n + 1);
      const entry = { conversation, text, at: Date.now(), n };
      if (text.length > Number(view.dataset["maxLength"]) || !isOrdinary(text)) throw new RangeError("left to the app");
      localStorage.setItem(`${store}-sent-${cid}`, JSON.stringify(entry));
    } catch {
      form?.setAttribute("data-early", ""); // the app sends it
      return;
    }
    drawSent(cid, text);
    field.value = "";
    field.focus({ preventScroll: true }); // the pressed button records from now on
    sentAtMs = performance.now();
    save();
    sender.add({ cid, text, n });
    if (moved && localStorage.getItem(appDraftKey) === moved) localStorage.setItem(appDraftKey, "");
  };
  field?.addEventListener("input", () => {
    forgetPress(); // the button sends now, and the app repeats no press made for other text
    save();
  });
  field?.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || isComposingKey(event)) return;
    event.preventDefault();
    send();
  });
  if (!field) return;
  // The data of the document, which follow this script, contain what the server had.
  document.addEventListener(
    "readystatechange",
    () => {
      const data = document.getElementById("first-data")?.textContent ?? "";
      void sender.resume(
        (cid) => data.includes(cid),
        ({ cid, text, at, stored }) => {
          drawSent(cid, text, stored?.at ?? at + clockSkewMs);
          if (stored) showStored(cid, stored.at);
        },
      );
    },
    { once: true },
  );
  // Another tab, which had found the same text, continues it, has made it a draft or has sent it.
  addEventListener("storage", ({ key, oldValue, newValue }) => {
    if (key !== draftKey) return;
    moved = oldValue;
    if (field.value && field.value === field.defaultValue) field.value = field.defaultValue = newValue ?? "";
    show();
  });
  // Another tab with a text of its own may have written or removed the one that this tab saved.
  addEventListener("pagehide", () => {
    const { value, defaultValue } = field;
    const other = localStorage.getItem(draftKey);
    if (view.isConnected && value && value !== other && value !== defaultValue)
      localStorage.setItem(draftKey, other ? `${other}\n${value}` : value);
  });
  // Text of a page that was closed before the app had loaded, before what was typed until this script arrived.
  try {
    const restored = localStorage.getItem(draftKey) ?? "";
    const typed = field.value;
    field.value = field.defaultValue = restored;
    if (typed && typed !== restored) {
      field.value = restored ? `${restored}\n${typed}` : typed;
      save();
    }
  } catch {
    // Storage is forbidden.
  }
  show();
};

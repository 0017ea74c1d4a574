import { createUuid } from "#contract/ids.ts";
import { isComposingKey } from "#lib/browser/composing-key.ts";
import { storeNamePrefix } from "#lib/browser/push/background-sync.ts";
import { createEarlySender } from "./early-sender.ts";
import { createPresses } from "./presses.ts";
import { createSentMessages } from "./sent-messages.ts";

/** Whether a text is accepted as it is. The app cleans or explains others. */
const isOrdinary = (text: string): boolean =>
  /[\p{L}\p{N}\p{P}\p{S}]/u.test(text.replace(/[\u115f\u1160\u2800\u3164\uffa0\ufffc\u{1d159}]/gu, "")) &&
  !/(?![\t\n])\p{Cc}|\p{Surrogate}/u.test(text);

const hasNativeSizing = CSS.supports("field-sizing", "content");

/** Shows the microphone or the arrow, and makes the field as high as its text. */
const showForm = (form: HTMLFormElement, field: HTMLTextAreaElement): void => {
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

/**
 * Typing and sending in a first view. What is typed and sent is written to the keys of `src/sync/store/journal.ts`, where
 * the app finds it, at once or after a reload. In the list only presses are noted.
 */
export const startComposer = (view: HTMLElement): void => {
  const form = view.querySelector<HTMLFormElement>("#first-composer");
  const field = form?.querySelector("textarea");
  const presses = createPresses(view, () => Boolean(field?.value.trim()));
  for (const type of ["compositionstart", "compositionupdate", "compositionend"]) {
    view.addEventListener(type, () => {
      if (type === "compositionend") delete view.dataset["composed"];
      else view.dataset["composed"] = String(performance.now()); // the app does not take over in the middle
    });
  }
  view.addEventListener("submit", (event) => event.preventDefault());
  if (!form || !field) return;

  const { user = "", conversation = "" } = view.dataset;
  const store = storeNamePrefix + user;
  const draftKey = `${store}-early-${conversation}`;
  const show = () => showForm(form, field);
  const save = () => {
    show();
    try {
      if (field.value.trim()) localStorage.setItem(draftKey, field.value);
      else localStorage.removeItem(draftKey);
    } catch {
      // No room: the text stays in the field.
    }
  };

  const sent = createSentMessages(view);
  const sender = createEarlySender({ view, user, conversation, store, onStored: sent.markStored });
  const appDraftKey = `${store}-draft-${conversation}`;
  /** Text of this field that another tab may have made a draft of the app; it ends when the text is sent. */
  let moved: string | null = null;
  const send = () => {
    const text = field.value.trim();
    if (!text) return;
    const cid = createUuid();
    const now = Date.now();
    let n = 1;
    try {
      for (const other of Object.keys(localStorage))
        if (other.startsWith(`${store}-sent-`)) n = Math.max(n, JSON.parse(localStorage[other]).n + 1);
      const entry = { conversation, text, at: now, n };
      if (text.length > Number(view.dataset["maxLength"]) || !isOrdinary(text)) throw new RangeError("left to the app");
      localStorage.setItem(`${store}-sent-${cid}`, JSON.stringify(entry));
    } catch {
      form.setAttribute("data-early", ""); // the app sends it
      return;
    }
    sent.draw(cid, text, sent.toServerTime(now));
    field.value = "";
    field.focus({ preventScroll: true }); // the pressed button records from now on
    presses.noteSent();
    save();
    sender.add({ cid, text, n });
    if (moved && localStorage.getItem(appDraftKey) === moved) localStorage.setItem(appDraftKey, "");
  };
  form.addEventListener("submit", send);
  field.addEventListener("input", () => {
    presses.forget(); // the button sends now, and the app repeats no press made for other text
    save();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || isComposingKey(event)) return;
    event.preventDefault();
    send();
  });
  // The data of the document, which follow this script, contain what the server had.
  document.addEventListener(
    "readystatechange",
    () => {
      const data = document.getElementById("first-data")?.textContent ?? "";
      void sender.resume(
        (cid) => data.includes(cid),
        ({ cid, text, at, stored }) => {
          sent.draw(cid, text, stored?.at ?? sent.toServerTime(at));
          if (stored) sent.markStored(cid, stored.at);
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

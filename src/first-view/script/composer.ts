import { createUuid } from "#contract/ids.ts";
import { isComposingKey } from "#lib/browser/composing-key.ts";
import { storeNamePrefix } from "#lib/browser/push/background-sync.ts";
import { joinDrafts } from "#lib/text/join-drafts.ts";
import { EarlyDraft } from "./draft.ts";
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
 * Typing and sending in a first view. What is typed and sent is written where the app finds it, at once or after a
 * reload: to the journal of unsent data, and of sent texts (`src/sync/store/journal.ts`). In the list only presses are
 * noted. `data-draft` of the view: the field contains the stored draft.
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
  const draft = new EarlyDraft(view, user, conversation);
  const show = () => showForm(form, field);
  /** `data-kept` of the field: its text survives the page (`src/lib/browser/load-failure.ts`). */
  const save = () => {
    show();
    field.toggleAttribute("data-kept", draft.save(field.value));
  };
  const isTyped = () => field.value !== field.defaultValue;
  /** Shows the stored draft, before what was typed until it was read. */
  const showDraft = () => {
    const typed = isTyped() ? field.value : "";
    const shown = typed ? joinDrafts(draft.text, typed) : draft.text;
    const caret = field.selectionEnd + shown.length - field.value.length;
    field.defaultValue = draft.text;
    if (field.value !== shown) {
      field.value = shown;
      field.setSelectionRange(caret, caret);
    }
    if (typed) save();
    else {
      field.setAttribute("data-kept", "");
      show();
    }
  };

  const sent = createSentMessages(view);
  const sender = createEarlySender({ view, user, conversation, store, onStored: sent.markStored });
  const send = () => {
    const text = field.value.trim();
    if (!text) return;
    const cid = createUuid();
    const { reply } = draft;
    const now = Date.now();
    let n = 1;
    try {
      for (const other of Object.keys(localStorage))
        if (other.startsWith(`${store}-sent-`)) n = Math.max(n, JSON.parse(localStorage[other]).n + 1);
      // `draft`: stored text that ends with it.
      const entry = { conversation, text, at: now, n, reply, ...(draft.text ? { draft: draft.text } : {}) };
      if (text.length > Number(view.dataset["maxLength"]) || !isOrdinary(text)) throw new RangeError("left to the app");
      localStorage.setItem(`${store}-sent-${cid}`, JSON.stringify(entry));
    } catch {
      form.setAttribute("data-early", ""); // the app sends it
      return;
    }
    sent.draw(cid, text, sent.toServerTime(now));
    field.value = field.defaultValue = "";
    field.focus({ preventScroll: true }); // the pressed button records from now on
    presses.noteSent();
    save();
    sender.add({ cid, text, n, ...(reply === undefined ? {} : { reply }) });
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
  showDraft(); // what the last page left, before what was typed until this script arrived
  void draft.load().then(() => {
    if (!view.isConnected) return;
    view.dataset["draft"] = "";
    showDraft();
  });
  draft.watch(isTyped, save, showDraft);
};

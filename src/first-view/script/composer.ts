import { createUuid } from "#contract/ids.ts";
import { isComposingKey } from "#lib/browser/composing-key.ts";
import { joinDrafts } from "#lib/text/join-drafts.ts";
import { EarlyDraft } from "./draft.ts";
import { EarlyOutbox } from "./outbox.ts";
import { createPresses } from "./presses.ts";
import { createSentMessages } from "./sent-messages.ts";
import { renewExpiringSession } from "./session.ts";
import { EarlyUnsent } from "./unsent.ts";

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
 * reload: to the unsent database and its journal. In the list only presses are noted. `data-draft` of the view: the
 * field contains the stored draft.
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
  const unsent = new EarlyUnsent(view, user, conversation);
  const draft = new EarlyDraft(unsent, conversation);
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
  const outbox = new EarlyOutbox({ view, user, conversation, unsent, draft, onStored: sent.markStored });
  renewExpiringSession(user);
  const send = () => {
    const text = field.value.trim();
    if (!text) return;
    const cid = createUuid();
    const at = sent.toServerTime(Date.now());
    const isAccepted = text.length <= Number(view.dataset["maxLength"]) && isOrdinary(text);
    if (!isAccepted || !outbox.add({ cid, text, reply: draft.reply }, at)) {
      form.setAttribute("data-early", ""); // the app sends it
      return;
    }
    sent.draw(cid, text, at);
    field.value = field.defaultValue = "";
    field.focus({ preventScroll: true }); // the pressed button records from now on
    presses.noteSent();
    show();
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
  const parsed = new Promise((resolve) => document.addEventListener("readystatechange", resolve, { once: true }));
  showDraft(); // what the last page left, before what was typed until this script arrived
  void unsent.open().then(async (stored) => {
    draft.load(stored?.draft);
    if (view.isConnected) {
      view.dataset["draft"] = "";
      showDraft();
    }
    await parsed;
    const data = document.getElementById("first-data")?.textContent ?? "";
    outbox.resume(
      stored?.messages ?? [],
      (cid) => data.includes(cid),
      ({ cid, body, createdAt, sent: place }) => {
        sent.draw(cid, body.text, place?.at ?? createdAt);
        if (place) sent.markStored(cid, place.at);
      },
    );
  });
  draft.watch(isTyped, save, showDraft);
};

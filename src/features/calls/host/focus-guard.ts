/*
 * Where a person's hands are besides a call: what had the focus when a call came before it, and whether they write.
 * What shows of calls is a dialog, or marked with `data-call`.
 */

const writingMs = 10_000; // after the last letter
const lookMs = 500;
const lookTimes = 20; // buttons that waited for the end of a call wait no more

let last: Element | undefined;
/** Has the focus while `last` cannot. */
let standIn: Element | undefined;
let wroteAt = Number.NEGATIVE_INFINITY;

const isOfCalls = (element: Element): boolean => element.closest("dialog, [data-call]") !== null;

const isField = (element: Element | null): element is HTMLTextAreaElement | HTMLInputElement =>
  element instanceof HTMLTextAreaElement ||
  (element instanceof HTMLInputElement && !["button", "checkbox", "file", "radio", "submit"].includes(element.type));

const onFocusIn = ({ target }: FocusEvent): void => {
  if (target instanceof Element && !isOfCalls(target)) last = target;
};
const onFocusOut = ({ target, relatedTarget }: FocusEvent): void => {
  // Left for nothing, as by a tap beside it; but a button that waits while there is a call was not left.
  const isLeft = relatedTarget === null && document.hasFocus() && target === last;
  if (isLeft && last?.isConnected && !last.matches(":disabled")) last = undefined;
};
const onInput = (): void => {
  wroteAt = performance.now();
};

/** Until the function is called that it gives back. */
export const watchHands = (): (() => void) => {
  document.addEventListener("focusin", onFocusIn);
  document.addEventListener("focusout", onFocusOut);
  document.addEventListener("input", onInput, true);
  return () => {
    document.removeEventListener("focusin", onFocusIn);
    document.removeEventListener("focusout", onFocusOut);
    document.removeEventListener("input", onInput, true);
  };
};

/** Letters come now, or did a moment ago. */
const isWriting = (): boolean => isField(document.activeElement) && performance.now() - wroteAt < writingMs;

/** They sit before something that was begun, or speak a voice message. */
const hasBegun = (): boolean => {
  const { activeElement } = document;
  return (isField(activeElement) && activeElement.value !== "") || document.querySelector("[data-recording]") !== null;
};

/** A dialog that is open leaves nothing else to be reached. */
export const isBehindDialog = (): boolean => document.querySelector("dialog[open]") !== null;

/** Nothing may come before what they do now: behind a dialog, where they cannot see it ring, only while letters come. */
export const isBusy = (): boolean => isWriting() || (hasBegun() && !isBehindDialog());

const takes = (element: HTMLElement | undefined): boolean => {
  element?.focus({ preventScroll: true });
  return element !== undefined && document.activeElement === element;
};

/** What stands beside it: in its row or header, or else on its screen; the nearest before it first. */
const takesBeside = (one: Element): boolean => {
  const place = one.closest("header, li") ?? one.closest("[data-screen]");
  const all = [...(place?.querySelectorAll<HTMLElement>("a[href], button, input, textarea") ?? [])];
  const before = all.filter((other) => one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_PRECEDING);
  return [...before.reverse(), ...all].some(takes);
};

/** As soon as what waits can have the focus, unless that was set elsewhere meanwhile. */
const giveWhenReady = (had: HTMLElement, times = lookTimes): void => {
  if (times === 0 || !had.isConnected || document.activeElement !== standIn || takes(had)) return;
  setTimeout(() => standIn && giveWhenReady(had, times - 1), lookMs);
};

/** When what had the focus of a call has gone: to what had it before, or beside that, or to the page's heading. */
export const giveFocusBack = (): void => {
  const { activeElement } = document;
  if (activeElement && activeElement !== document.body && activeElement !== standIn) return;
  const had = last;
  if (had?.isConnected) {
    if (takes(had as HTMLElement)) return;
    if (takesBeside(had)) {
      last = had; // a button that waits now is not to be forgotten
      standIn = document.activeElement ?? undefined;
      giveWhenReady(had as HTMLElement);
      return;
    }
  }
  takes(document.querySelector<HTMLElement>("[role=main] h1, main h1") ?? undefined);
};

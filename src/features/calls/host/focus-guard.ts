/*
 * Where a person's hands are besides a call: what had the focus when a call came before it, and whether they write.
 * What shows of calls is a dialog, or marked with `data-call`.
 */

const typingMs = 10_000; // after the last letter
const retryMs = 500;
const retriesMax = 20; // buttons that waited for the end of a call wait no more

let lastFocused: Element | undefined;
/** Has the focus while `last` cannot. */
let standIn: Element | undefined;
let lastInputAt = Number.NEGATIVE_INFINITY;

const isInCallUi = (element: Element): boolean => element.closest("dialog, [data-call]") !== null;

const isTextField = (element: Element | null): element is HTMLTextAreaElement | HTMLInputElement =>
  element instanceof HTMLTextAreaElement ||
  (element instanceof HTMLInputElement && !["button", "checkbox", "file", "radio", "submit"].includes(element.type));

const onFocusIn = ({ target }: FocusEvent): void => {
  if (target instanceof Element && !isInCallUi(target)) lastFocused = target;
};
const onFocusOut = ({ target, relatedTarget }: FocusEvent): void => {
  // Left for nothing, as by a tap beside it; but a button that waits while there is a call was not left.
  const isLeft = relatedTarget === null && document.hasFocus() && target === lastFocused;
  if (isLeft && lastFocused?.isConnected && !lastFocused.matches(":disabled")) lastFocused = undefined;
};
const onInput = (): void => {
  lastInputAt = performance.now();
};

/** Until the function is called that it gives back. */
export const watchUserFocus = (): (() => void) => {
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
const isUserTyping = (): boolean => isTextField(document.activeElement) && performance.now() - lastInputAt < typingMs;

/** They sit before something that was begun, or speak a voice message. */
const hasUnfinishedInput = (): boolean => {
  const { activeElement } = document;
  return (
    (isTextField(activeElement) && activeElement.value !== "") || document.querySelector("[data-recording]") !== null
  );
};

/** A dialog that is open leaves nothing else to be reached. */
export const isDialogOpen = (): boolean => document.querySelector("dialog[open]") !== null;

/** Nothing may come before what they do now: behind a dialog, where they cannot see it ring, only while letters come. */
export const isUserBusy = (): boolean => isUserTyping() || (hasUnfinishedInput() && !isDialogOpen());

const tryFocus = (element: HTMLElement | undefined): boolean => {
  element?.focus({ preventScroll: true });
  return element !== undefined && document.activeElement === element;
};

/** What stands beside it: in its row or header, or else on its screen; the nearest before it first. */
const tryFocusNear = (one: Element): boolean => {
  const place = one.closest("header, li") ?? one.closest("[data-screen]");
  const all = [...(place?.querySelectorAll<HTMLElement>("a[href], button, input, textarea") ?? [])];
  const before = all.filter((other) => one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_PRECEDING);
  return [...before.reverse(), ...all].some(tryFocus);
};

/** As soon as what waits can have the focus, unless that was set elsewhere meanwhile. */
const restoreFocusWhenEnabled = (had: HTMLElement, times = retriesMax): void => {
  if (times === 0 || !had.isConnected || document.activeElement !== standIn || tryFocus(had)) return;
  setTimeout(() => standIn && restoreFocusWhenEnabled(had, times - 1), retryMs);
};

/** When what had the focus of a call has gone: to what had it before, or beside that, or to the page's heading. */
export const restoreFocusAfterCall = (): void => {
  const { activeElement } = document;
  if (activeElement && activeElement !== document.body && activeElement !== standIn) return;
  const had = lastFocused;
  if (had?.isConnected) {
    if (tryFocus(had as HTMLElement)) return;
    if (tryFocusNear(had)) {
      lastFocused = had; // a button that waits now is not to be forgotten
      standIn = document.activeElement ?? undefined;
      restoreFocusWhenEnabled(had as HTMLElement);
      return;
    }
  }
  tryFocus(document.querySelector<HTMLElement>("[role=main] h1, main h1") ?? undefined);
};

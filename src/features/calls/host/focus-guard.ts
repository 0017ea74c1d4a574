/*
 * Tracks what the person does besides a call: what had the focus when a call came up, and whether they type. Elements
 * of calls are dialogs or marked with `data-call`.
 */

const typingMs = 10_000; // after the last input
const retryMs = 500;
const retriesMax = 20; // buttons disabled during a call are enabled by then

let lastFocused: Element | undefined;
/** Has the focus while `lastFocused` cannot. */
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
  // Left for nothing, for example by a tap beside it. A button that is disabled during a call was not left.
  const isLeft = relatedTarget === null && document.hasFocus() && target === lastFocused;
  if (isLeft && lastFocused?.isConnected && !lastFocused.matches(":disabled")) lastFocused = undefined;
};
const onInput = (): void => {
  lastInputAt = performance.now();
};

/** Starts tracking focus and input. Returns a function that stops it. */
export const watchUserFocus = (): (() => void) => {
  if (document.activeElement !== document.body) lastFocused ??= document.activeElement ?? undefined;
  document.addEventListener("focusin", onFocusIn);
  document.addEventListener("focusout", onFocusOut);
  document.addEventListener("input", onInput, true);
  return () => {
    document.removeEventListener("focusin", onFocusIn);
    document.removeEventListener("focusout", onFocusOut);
    document.removeEventListener("input", onInput, true);
  };
};

/** Whether the person is typing, or was a moment ago. */
const isUserTyping = (): boolean => isTextField(document.activeElement) && performance.now() - lastInputAt < typingMs;

/** Whether the person has unfinished text or is recording a voice message. */
const hasUnfinishedInput = (): boolean => {
  const { activeElement } = document;
  return (
    (isTextField(activeElement) && activeElement.value !== "") || document.querySelector("[data-recording]") !== null
  );
};

/** Whether an open dialog makes everything else unreachable. */
export const isDialogOpen = (): boolean => document.querySelector("dialog[open]") !== null;

/**
 * Whether a call must not interrupt the person. Behind a dialog they would not see it ring, so there only typing
 * counts.
 */
export const isUserBusy = (): boolean => isUserTyping() || (hasUnfinishedInput() && !isDialogOpen());

const tryFocus = (element: HTMLElement | undefined): boolean => {
  element?.focus({ preventScroll: true });
  return element !== undefined && document.activeElement === element;
};

/**
 * Focuses the nearest element around the given one, preferably before it: in its row or header, or else on its screen.
 */
const tryFocusNear = (origin: Element): boolean => {
  const container = origin.closest("header, li") ?? origin.closest("[data-screen]");
  const all = [...(container?.querySelectorAll<HTMLElement>("a[href], button, input, textarea") ?? [])];
  const before = all.filter((other) => origin.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_PRECEDING);
  return [...before.reverse(), ...all].some(tryFocus);
};

/** Focuses an element once it can take the focus, unless the focus was moved meanwhile. */
const restoreFocusWhenEnabled = (previous: HTMLElement, attempts = retriesMax): void => {
  if (attempts === 0 || !previous.isConnected || document.activeElement !== standIn || tryFocus(previous)) return;
  setTimeout(() => standIn && restoreFocusWhenEnabled(previous, attempts - 1), retryMs);
};

/**
 * Restores the focus after the focused element of a call is gone: to the previous element, to one near it, or to the
 * page's heading.
 */
export const restoreFocusAfterCall = (): void => {
  const { activeElement } = document;
  if (activeElement && activeElement !== document.body && activeElement !== standIn) return;
  const previous = lastFocused;
  if (previous?.isConnected) {
    if (tryFocus(previous as HTMLElement)) return;
    if (tryFocusNear(previous)) {
      lastFocused = previous; // a disabled button is not to be forgotten
      standIn = document.activeElement ?? undefined;
      restoreFocusWhenEnabled(previous as HTMLElement);
      return;
    }
  }
  tryFocus(document.querySelector<HTMLElement>("[role=main] h1, main h1") ?? undefined);
};

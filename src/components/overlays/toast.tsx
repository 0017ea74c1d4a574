import { useEffect, useId, useRef, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { avoidCovering } from "#components/focus/avoid-covering.ts";
import { Observable } from "#lib/browser/observable.ts";

/** Errors, toasts with an action and those with a title (SPEC.md §9: one toast at a time, by default for five seconds). */
const toastDurationMs = 5_000;
/** Toasts of one line, which ask for nothing. */
const lineDurationMs = 3_000;

type ToastTone = "info" | "danger";
type ToastOptions = {
  title?: string;
  message?: string;
  tone?: ToastTone;
  /** The screen itself shows what the toast says: the text is only announced to screen readers. */
  isShownByScreen?: boolean;
  /** Field or form whose content caused the toast: changing it dismisses the toast. */
  dismissOnInput?: HTMLElement | null | undefined;
  /** Follow-up action; it dismisses the toast. */
  action?: { label: string; onSelect: () => void };
};
type Toast = Omit<ToastOptions, "dismissOnInput"> & {
  id: number;
  tone: ToastTone;
  /** Toaster that was topmost when the toast appeared. */
  toasterId: string | undefined;
};

let currentToast: Toast | undefined;
let lastToastId = 0;
let dismissTimer: ReturnType<typeof setTimeout> | undefined;
const toastListeners = new Set<() => void>();

const isLine = ({ tone, title, action }: Toast): boolean => tone === "info" && !title && !action;

/**
 * Starts the timer only while a toaster is mounted and the page is visible, so that a toast is not missed on a page that
 * is still loading or in a background tab.
 */
const restartDismissTimer = (): void => {
  clearTimeout(dismissTimer);
  const isLookedAt = mountedToasters.get().length > 0 && document.visibilityState === "visible";
  if (!currentToast || !isLookedAt) return;
  const durationMs = isLine(currentToast) ? lineDurationMs : toastDurationMs;
  dismissTimer = setTimeout(() => setCurrentToast(undefined), durationMs);
};
const setCurrentToast = (toast: Toast | undefined): void => {
  currentToast = toast;
  restartDismissTimer();
  for (const listener of toastListeners) listener();
};
// A prerendered page has no toast: toasts appear only after hydration.
const getServerSnapshot = (): undefined => undefined;
const subscribeToToast = (listener: () => void): (() => void) => {
  toastListeners.add(listener);
  const unsubscribe = mountedToasters.subscribe(listener);
  document.addEventListener("visibilitychange", restartDismissTimer);
  return () => {
    toastListeners.delete(listener);
    unsubscribe();
  };
};

/** Shows a toast, replacing the current one: an error, an action or a title for five seconds, a line for three. */
export const showToast = ({ dismissOnInput, ...toast }: ToastOptions): void => {
  const id = ++lastToastId;
  const dismiss = () => {
    dismissOnInput?.removeEventListener("input", dismiss);
    if (currentToast?.id === id) setCurrentToast(undefined);
  };
  dismissOnInput?.addEventListener("input", dismiss);
  setCurrentToast({ tone: "info", ...toast, id, toasterId: findTopmostToaster() });
};

/** Tells screen readers a result that the screen itself shows. */
export const announceResult = (message: string): void => showToast({ message, isShownByScreen: true });

/** Possible positions of the toaster; later ones are above earlier ones. */
const placeClasses = {
  page: "fixed inset-x-0 top-2 z-50 px-3 pt-safe",
  app: "absolute inset-x-0 bottom-0 px-3",
  call: "absolute inset-x-0 top-16 z-10 px-3",
  dialog: "fixed inset-x-0 top-20 z-50 px-3 pt-safe", // below the header of a sheet
} as const;
type ToasterPlace = keyof typeof placeClasses;
const placesByPriority: readonly ToasterPlace[] = ["page", "app", "call", "dialog"];

type MountedToaster = { id: string; place: ToasterPlace };
const mountedToasters = new Observable<readonly MountedToaster[]>([]);
/** The newest of the highest place: one dialog may be open above another. */
const findTopmostToaster = (): string | undefined => {
  const mounted = mountedToasters.get();
  const highest = placesByPriority.findLast((place) => mounted.some((toaster) => toaster.place === place));
  return mounted.findLast((toaster) => toaster.place === highest)?.id;
};

/**
 * Toaster of the current toast. A dialog opened later must not be covered by it, so the toast stays where it appeared,
 * and moves to the topmost toaster only after its own was removed.
 */
const findToasterOfToast = (): string | undefined => {
  const isMounted = mountedToasters.get().some(({ id }) => id === currentToast?.toasterId);
  return isMounted ? currentToast?.toasterId : findTopmostToaster();
};

const useToast = (place: ToasterPlace): Toast | undefined => {
  const id = useId();
  useEffect(() => {
    const mounted = mountedToasters.get();
    mountedToasters.set([...mounted, { id, place }]);
    if (mounted.length === 0) restartDismissTimer();
    return () => mountedToasters.set(mountedToasters.get().filter((toaster) => toaster.id !== id));
  }, [id, place]);
  const getToast = () => (findToasterOfToast() === id ? currentToast : undefined);
  return useSyncExternalStore(subscribeToToast, getToast, getServerSnapshot);
};

type ToastCardProps = { toast: Toast; place: ToasterPlace };

/** Text of a toast and, below it, its buttons. A line has none, and lets touches through to the page. */
function ToastCard({ toast, place }: ToastCardProps) {
  const { t } = useTranslation();
  // Element that had the focus before the toast's button, which is about to disappear.
  const previousFocus = useRef<EventTarget>(null);
  const close = () => {
    const previousElement = previousFocus.current;
    setCurrentToast(undefined);
    if (previousElement instanceof HTMLElement) previousElement.focus({ preventScroll: true });
  };
  const buttons = [
    { label: t("common.close"), onSelect: () => undefined },
    ...(toast.action ? [toast.action] : []),
  ].map(({ label, onSelect }) => (
    <button
      key={label}
      type="button"
      className="min-h-12 rounded-card px-3 font-semibold text-$accent-on-toast [outline-color:currentcolor] hover:underline"
      onFocus={({ relatedTarget }) => {
        previousFocus.current = relatedTarget;
      }}
      onBlur={() => {
        previousFocus.current = null;
      }}
      onClick={() => {
        close();
        onSelect();
      }}
    >
      {label}
    </button>
  ));
  return (
    <div
      ref={place === "app" ? avoidCovering.byMovingUp : avoidCovering.byMovingDown}
      data-toast
      className={`rise mb-2 max-h-[40vh] max-w-104 overflow-y-auto rounded-card border border-transparent bg-$toast px-4 text-$on-toast shadow-lg ${
        isLine(toast) ? "py-2 text-center text-sm" : "pointer-events-auto w-full pt-3"
      }`}
    >
      <div className="flex gap-2">
        {toast.tone === "danger" && (
          <span className="i-ph-warning-circle-fill mt-0.5 text-xl text-$danger-on-toast" aria-hidden="true" />
        )}
        <div className="min-w-0 flex-1">
          {toast.title && <p className="leading-snug font-semibold break-words">{toast.title}</p>}
          {toast.message && <p className="leading-snug break-words whitespace-pre-line">{toast.message}</p>}
        </div>
      </div>
      {!isLine(toast) && <div className="-mr-3 flex flex-wrap justify-end">{buttons}</div>}
    </div>
  );
}

/** Container of toasts. Only one of those mounted shows a toast. Errors interrupt a screen reader, others wait. */
export function Toaster({ place = "page" }: { place?: ToasterPlace }) {
  const toast = useToast(place);
  const card =
    toast &&
    (toast.isShownByScreen ? (
      <div className="sr-only">
        {toast.title && <p>{toast.title}</p>}
        <p>{toast.message}</p>
      </div>
    ) : (
      <ToastCard key={toast.id} toast={toast} place={place} />
    ));
  return (
    <div className={`pointer-events-none flex flex-col items-center ${placeClasses[place]}`}>
      <div role="status" className="flex w-full justify-center">
        {toast?.tone === "info" && card}
      </div>
      {toast?.tone === "danger" && (
        <div role="alert" className="flex w-full justify-center">
          {card}
        </div>
      )}
    </div>
  );
}

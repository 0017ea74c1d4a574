import { useEffect, useId, useRef, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { avoidCoveringFocus } from "#components/focus/avoid-covering-focus.ts";
import { Observable } from "#lib/browser/observable.ts";

/** One toast at a time, for five seconds (SPEC.md §9). */
const toastDurationMs = 5_000;

type ToastTone = "info" | "danger";
type ToastOptions = {
  title?: string;
  message?: string;
  tone?: ToastTone;
  /** Not announced to screen readers, because the element that receives the focus announces the same text. */
  isSilent?: boolean;
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

/** Starts the timer only while the page is visible, so that a toast is not missed in a background tab. */
const restartDismissTimer = (): void => {
  clearTimeout(dismissTimer);
  const isLookedAt = typeof document !== "undefined" && document.visibilityState === "visible";
  if (currentToast && isLookedAt) dismissTimer = setTimeout(() => setCurrentToast(undefined), toastDurationMs);
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

/**
 * Shows a toast for five seconds, replacing the current one. Returns a function that dismisses it early, when it no
 * longer applies.
 */
export const openToast = ({ dismissOnInput, ...toast }: ToastOptions): (() => void) => {
  const id = ++lastToastId;
  const dismiss = () => {
    dismissOnInput?.removeEventListener("input", dismiss);
    if (currentToast?.id === id) setCurrentToast(undefined);
  };
  dismissOnInput?.addEventListener("input", dismiss);
  setCurrentToast({ tone: "info", ...toast, id, toasterId: findTopmostToaster() });
  return dismiss;
};

export const showToast = (toast: ToastOptions): void => {
  openToast(toast);
};

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
    mountedToasters.set([...mountedToasters.get(), { id, place }]);
    return () => mountedToasters.set(mountedToasters.get().filter((toaster) => toaster.id !== id));
  }, [id, place]);
  const getToast = () => (findToasterOfToast() === id ? currentToast : undefined);
  return useSyncExternalStore(subscribeToToast, getToast, getServerSnapshot);
};

/** Container of toasts. Only one of those mounted shows a toast. Errors interrupt a screen reader, others wait. */
export function Toaster({ place = "page" }: { place?: ToasterPlace }) {
  const { t } = useTranslation();
  const toast = useToast(place);
  // Element that had the focus before the toast's button, which is about to disappear.
  const previousFocus = useRef<EventTarget>(null);
  const close = () => {
    const previousElement = previousFocus.current;
    setCurrentToast(undefined);
    if (previousElement instanceof HTMLElement) previousElement.focus({ preventScroll: true });
  };
  const card = toast && (
    <div
      key={toast.id}
      ref={place === "app" ? avoidCoveringFocus.byMovingUp : avoidCoveringFocus.byMovingDown}
      data-toast
      className={`rise pointer-events-auto mb-2 flex max-h-[40vh] w-full max-w-104 flex-wrap items-center gap-x-3 overflow-y-auto rounded-card border bg-surface py-1 pr-1 pl-4 text-text shadow-lg ${
        toast.tone === "danger" ? "border-danger" : "border-line"
      }`}
    >
      <span
        className={`shrink-0 text-2xl ${toast.tone === "danger" ? "i-ph-warning-circle-fill text-danger" : "i-ph-info-fill text-accent"}`}
        aria-hidden="true"
      />
      <div className="min-w-28 flex-1 py-2 pr-2">
        {toast.title && <p className="leading-snug font-semibold break-words">{toast.title}</p>}
        {toast.message && <p className="leading-snug break-words whitespace-pre-line">{toast.message}</p>}
      </div>
      {/* A long label goes below the text. */}
      <div className="ml-auto flex items-center">
        {toast.action && (
          <button
            type="button"
            className="min-h-12 rounded-card px-3 font-semibold text-accent hover:bg-raised"
            onClick={() => {
              close();
              toast.action?.onSelect();
            }}
          >
            {toast.action.label}
          </button>
        )}
        <IconButton
          icon="i-ph-x"
          label={t("common.close")}
          onFocus={({ relatedTarget }) => {
            previousFocus.current = relatedTarget;
          }}
          onBlur={() => {
            previousFocus.current = null;
          }}
          onClick={close}
        />
      </div>
    </div>
  );
  return (
    <div className={`pointer-events-none flex flex-col items-center ${placeClasses[place]}`}>
      <div role="status" className="flex w-full justify-center">
        {toast?.tone === "info" && card}
      </div>
      {toast?.tone === "danger" &&
        (toast.isSilent ? (
          <section aria-label={toast.title} className="flex w-full justify-center">
            {card}
          </section>
        ) : (
          <div role="alert" className="flex w-full justify-center">
            {card}
          </div>
        ))}
    </div>
  );
}

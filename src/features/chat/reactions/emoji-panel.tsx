import { type ReactNode, type RefObject, useEffect, useEffectEvent, useId, useLayoutEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { useBackButton } from "#components/overlays/back-button-layers.ts";
import { isComposingKey } from "#lib/browser/composing-key.ts";

const gapPx = 8;

type EmojiPanelProps = {
  field: RefObject<HTMLTextAreaElement | null>;
  onClose: () => void;
  children: ReactNode;
};

/**
 * Panel of the composer: above it on a wide screen, in the place of the on-screen keyboard on a narrow one. It closes
 * by Escape, the back button, a press elsewhere, and when the field is focused, whose keyboard then takes its place.
 */
export function EmojiPanel({ field, onClose, children }: EmojiPanelProps) {
  const { t } = useTranslation();
  const id = useId();
  const panel = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { height = 0 } = field.current?.form?.getBoundingClientRect() ?? {};
    panel.current?.style.setProperty("--panel-bottom", `${height + gapPx}px`);
  });
  // On a touch screen the search would open the on-screen keyboard, so the panel itself has the focus.
  useEffect(() => {
    const hasMouse = matchMedia("(hover: hover) and (pointer: fine)").matches;
    (hasMouse ? panel.current?.querySelector("input") : panel.current)?.focus({ preventScroll: true });
  }, []);
  useBackButton(onClose);
  const close = useEffectEvent(onClose);
  useEffect(() => {
    const element = field.current;
    const handleFocus = () => close();
    const handleClick = ({ target }: MouseEvent) => {
      const isInside = [panel.current, element?.form].some((one) => target instanceof Node && one?.contains(target));
      // A press may have removed its own button from the page.
      if (!isInside && target instanceof Node && target.isConnected) close();
    };
    element?.addEventListener("focus", handleFocus);
    addEventListener("click", handleClick);
    return () => {
      element?.removeEventListener("focus", handleFocus);
      removeEventListener("click", handleClick);
    };
  }, [field]);
  return (
    <div
      ref={panel}
      role="dialog"
      aria-labelledby={id}
      tabIndex={-1}
      className="z-3 flex h-[min(20rem,45dvh)] shrink-0 flex-col border-line bg-surface pt-2 focus-visible:outline-none sm:absolute sm:right-2 sm:bottom-[var(--panel-bottom)] sm:h-[min(26rem,60dvh,100dvh-var(--panel-bottom)-5rem)] sm:w-96 sm:rounded-bubble sm:border sm:shadow-xl"
      onSubmit={(event) => event.stopPropagation()} // the search is no part of the composer's form
      onKeyDown={(event) => {
        if (event.key !== "Escape" || isComposingKey(event.nativeEvent)) return;
        event.preventDefault();
        event.stopPropagation();
        onClose();
        field.current?.focus({ preventScroll: true });
      }}
    >
      <h2 id={id} className="sr-only">
        {t("reactions.choose")}
      </h2>
      {children}
    </div>
  );
}

import { type RefObject, useLayoutEffect } from "react";

/** The field's `max-height` is five lines. */
const hasNativeSizing = typeof CSS !== "undefined" && CSS.supports("field-sizing", "content");

/**
 * Makes a message field as high as its text, up to its maximum, in browsers without `field-sizing`. Measuring the text
 * takes two layouts of the whole page.
 */
export const useFieldHeight = (field: RefObject<HTMLTextAreaElement | null>, text: string): void => {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    const element = field.current;
    if (!element || hasNativeSizing) return;
    // Fix the height of the form during the measurement, so that the message list keeps its scroll position.
    const form = element.form;
    if (form) form.style.minHeight = `${form.offsetHeight}px`;
    element.style.height = "0";
    const borderPx = element.offsetHeight - element.clientHeight;
    element.style.height = `${element.scrollHeight + borderPx}px`;
    if (form) form.style.minHeight = "";
  }, [text]);
};

import { type RefObject, useLayoutEffect } from "react";

const fieldLinesMax = 5;

/** Makes a message field as high as its text, up to five lines. */
export const useFieldHeight = (field: RefObject<HTMLTextAreaElement | null>, text: string): void => {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    const style = getComputedStyle(element);
    const padding = Number.parseFloat(style.paddingTop) + Number.parseFloat(style.paddingBottom);
    const max = Number.parseFloat(style.lineHeight) * fieldLinesMax + padding;
    // Fix the height of the form during the measurement, so that the message list keeps its scroll position.
    const form = element.form;
    if (form) form.style.minHeight = `${form.offsetHeight}px`;
    element.style.height = "0";
    const wanted = element.scrollHeight;
    element.style.height = `${Math.min(wanted, max)}px`;
    if (form) form.style.minHeight = "";
    element.style.overflowY = wanted > max ? "auto" : "hidden";
  }, [text]);
};

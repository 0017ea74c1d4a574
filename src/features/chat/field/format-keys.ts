import type { KeyboardEvent } from "react";
import { loadOrShowToast } from "#components/overlays/load-with-toast.ts";
import { loadWithIdleTexts } from "#i18n/setup.ts";

/** Keys that format the selected text together with Control or Command, and their markers. */
const markers: Readonly<Record<string, string>> = { b: "*", i: "_", e: "`", X: "~" };

/** Value of `aria-keyshortcuts` of a field with these keys. */
export const formatShortcuts = "Control+B Control+I Control+E Control+Shift+X";

// The tools of the field, which the chat loads when it is idle, contain the code.
const loadTools = () => import("./field-tools.tsx");
let tools: Awaited<ReturnType<typeof loadTools>> | undefined;

/**
 * Formats the selected text of a message field if the key is a shortcut for it. If the code is not here yet, what is
 * typed meanwhile is placed as if the format had been applied at once.
 */
export const handleFormatKey = async (event: KeyboardEvent<HTMLTextAreaElement>): Promise<void> => {
  const { key, shiftKey, currentTarget: field } = event;
  const marker = markers[shiftKey ? key.toUpperCase() : key.toLowerCase()];
  if (!marker || event.altKey || event.ctrlKey === event.metaKey) return;
  event.preventDefault();
  const { value, selectionStart, selectionEnd } = field;
  const [before, after] = [value.slice(0, selectionStart), value.slice(selectionEnd)];
  tools ??= await loadOrShowToast(loadTools, loadWithIdleTexts);
  const end = field.value.length - after.length;
  if (end < selectionStart || !field.value.startsWith(before) || !field.value.endsWith(after)) return; // sent meanwhile
  if (field.value === value) tools?.formatField(field, selectionStart, end, marker);
  else tools?.formatTypedText(field, selectionStart, end, marker);
};

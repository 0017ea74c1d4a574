/** Replacement of a part of a text, and the selection after it. */
export type FormatEdit = { start: number; end: number; replacement: string; selection: [start: number, end: number] };

const lineBeginning = /^\s*(?:- |\d+\. )?/;

type Line = { before: string; content: string; after: string };

/** Splits a line into what markers enclose, and the list number and blanks around it. */
const toLine = (line: string): Line => {
  const [before = ""] = lineBeginning.exec(line) ?? [];
  const content = line.slice(before.length).trimEnd();
  return { before, content, after: line.slice(before.length + content.length) };
};

const isEnclosed = (content: string, marker: string): boolean =>
  content.length > 2 && content.startsWith(marker) && content.endsWith(marker);

/** Offset behind the marker that closes an open format right after a caret, or undefined. */
const findClosingMarker = (text: string, caret: number, marker: string): number | undefined => {
  const line = text.slice(text.lastIndexOf("\n", caret - 1) + 1, caret);
  const isOpen = line.split(marker).length % 2 === 0;
  const [closing = ""] = /^[*_~`]*/.exec(text.slice(caret)) ?? [];
  const index = isOpen ? closing.indexOf(marker) : -1;
  return index === -1 ? undefined : caret + index + 1;
};

/**
 * Encloses the selected text in markers, or removes those that enclose it. Every line gets its own, because formats end
 * with the line. Blanks at the ends of the selection stay outside. Without a selection the caret is placed between two
 * new markers, or behind the marker that ends the format.
 */
export const toggleFormat = (text: string, start: number, end: number, marker: string): FormatEdit => {
  const selected = text.slice(start, end);
  const leading = selected.trim() === "" ? selected.length : selected.length - selected.trimStart().length;
  const from = start + leading;
  const to = Math.max(from, start + selected.trimEnd().length);
  const inner = text.slice(from, to);
  const isBetweenMarkers = text.charAt(from - 1) === marker && text.charAt(to) === marker;
  if (from > 0 && isBetweenMarkers && !inner.includes("\n"))
    return { start: from - 1, end: to + 1, replacement: inner, selection: [from - 1, to - 1] };
  const closed = start === end ? findClosingMarker(text, from, marker) : undefined;
  if (closed !== undefined) return { start: from, end: from, replacement: "", selection: [closed, closed] };
  if (inner === "") return { start: from, end: from, replacement: marker + marker, selection: [from + 1, from + 1] };

  const lines = inner.split("\n").map(toLine);
  const hasMarkers = lines.every(({ content }) => content === "" || isEnclosed(content, marker));
  const toggle = (content: string): string => {
    if (content === "") return "";
    if (hasMarkers) return content.slice(1, -1);
    return isEnclosed(content, marker) ? content : marker + content + marker;
  };
  const replacement = lines.map(({ before, content, after }) => before + toggle(content) + after).join("\n");
  const [first] = lines;
  const isOneLine = lines.length === 1 && first !== undefined;
  // The markers of a single line stay outside of the selection, so that further formats are placed inside.
  const offset = isOneLine ? first.before.length + (hasMarkers ? 0 : 1) : 0;
  const selectionEnd = from + replacement.length - (isOneLine && !hasMarkers ? 1 : 0);
  return { start: from, end: to, replacement, selection: [from + offset, selectionEnd] };
};

/**
 * Toggles a format without a selection in the text as it was before `start` to `end` was typed, and places what was
 * typed at the caret. The caret stays where it is in the text.
 */
export const toggleTypedFormat = (
  text: string,
  start: number,
  end: number,
  marker: string,
  caret: number,
): FormatEdit => {
  const [before, after] = [text.slice(0, start), text.slice(end)];
  const edit = toggleFormat(before + after, start, start, marker);
  const [place] = edit.selection;
  const formatted = before.slice(0, edit.start) + edit.replacement + (before + after).slice(edit.end);
  const result = formatted.slice(0, place) + text.slice(start, end) + formatted.slice(place);
  const unchanged = Math.min(after.length, result.length - place - (end - start));
  const move = (offset: number): number => {
    if (offset < start) return offset;
    return offset <= end ? offset - start + place : offset + result.length - text.length;
  };
  return {
    start: edit.start,
    end: text.length - unchanged,
    replacement: result.slice(edit.start, result.length - unchanged),
    selection: [move(caret), move(caret)],
  };
};

/** Marker of a list: it begins lines instead of enclosing text. */
export const listMarker = "- ";

/** Makes list entries of the lines that a selection touches, or plain lines again if all of them are entries. */
export const toggleList = (text: string, start: number, end: number): FormatEdit => {
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const lineEnd = text.indexOf("\n", end);
  const to = lineEnd === -1 ? text.length : lineEnd;
  const lines = text.slice(from, to).split("\n");
  const isList = lines.every((line) => line.trim() === "" || line.startsWith(listMarker));
  const toggle = (line: string): string => {
    if (isList) return line.startsWith(listMarker) ? line.slice(listMarker.length) : line;
    return line.trim() === "" || line.startsWith(listMarker) ? line : listMarker + line;
  };
  const replacement = lines.map(toggle).join("\n");
  return { start: from, end: to, replacement, selection: [from, from + replacement.length] };
};

/** Changes a field. The browser's undo history stays. */
const applyEdit = (field: HTMLTextAreaElement, { start, end, replacement, selection }: FormatEdit): void => {
  field.focus({ preventScroll: true });
  if (start !== end || replacement !== "") {
    field.setSelectionRange(start, end);
    // The only way to edit a field that its undo history notices.
    const isInserted =
      replacement === "" ? document.execCommand("delete") : document.execCommand("insertText", false, replacement);
    if (!isInserted) {
      field.setRangeText(replacement);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }
  field.setSelectionRange(...selection);
};

/** Toggles a format of a part of a field. */
export const formatField = (field: HTMLTextAreaElement, start: number, end: number, marker: string): void => {
  const toggle = marker === listMarker ? toggleList : toggleFormat;
  applyEdit(field, toggle(field.value, start, end, marker));
};

/**
 * Toggles a format in a field where something was typed since: it is placed where the caret would have been, between
 * new markers or behind the one that ended the format.
 */
export const formatTypedText = (field: HTMLTextAreaElement, start: number, end: number, marker: string): void => {
  const { value, selectionEnd: caret } = field;
  const typed = value.slice(start, end);
  if (typed === "" || typed.includes("\n")) return;
  applyEdit(field, toggleTypedFormat(value, start, end, marker, caret));
};

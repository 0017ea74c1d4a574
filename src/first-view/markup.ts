/** HTML text whose inserted values are escaped. */
export class Markup {
  constructor(readonly html: string) {}
}

type MarkupValue = Markup | string | number | false | null | undefined | readonly MarkupValue[];

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (char) => escapes[char] ?? char);

const toHtml = (value: MarkupValue): string => {
  if (value instanceof Markup) return value.html;
  if (Array.isArray(value)) return (value as readonly MarkupValue[]).map(toHtml).join("");
  return value === undefined || value === null || value === false ? "" : escapeHtml(String(value));
};

/**
 * Template tag for HTML: strings and numbers are escaped, `Markup` is inserted as it is, empty values are left out.
 * Line breaks of the template are removed with the indentation after them.
 */
export const markup = (strings: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup =>
  new Markup(strings.map((text, index) => text.replace(/\n\s*/g, "") + toHtml(values[index])).join(""));

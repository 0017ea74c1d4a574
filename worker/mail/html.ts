const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (letter) => entities[letter] ?? "");

/** Text as HTML paragraphs, with web addresses as links. */
export const toParagraphs = (text: string): string =>
  text
    .split("\n\n")
    .map((paragraph) => {
      const html = paragraph
        .split(/(https?:\/\/\S+)/)
        .map((part, n) => (n % 2 === 0 ? escapeHtml(part) : `<a href="${escapeHtml(part)}">${escapeHtml(part)}</a>`))
        .join("")
        .replaceAll("\n", "<br>");
      return `<p>${html}</p>`;
    })
    .join("\n");

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export const escapeHtmlText = (text: string): string => text.replace(/[&<>"']/g, (letter) => entities[letter] ?? "");

/** Text as HTML paragraphs, with web addresses as links. */
export const toParagraphs = (text: string): string =>
  text
    .split("\n\n")
    .map((paragraph) => {
      const html = paragraph
        .split(/(https?:\/\/\S+)/)
        .map((part, n) =>
          n % 2 === 0 ? escapeHtmlText(part) : `<a href="${escapeHtmlText(part)}">${escapeHtmlText(part)}</a>`,
        )
        .join("")
        .replaceAll("\n", "<br>");
      return `<p>${html}</p>`;
    })
    .join("\n");

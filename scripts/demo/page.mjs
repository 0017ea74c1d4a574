// Minimal PDF with one page of text (ISO 32000-1 §7.5).

/** @param {string[]} lines the first is the heading; letters of Latin-1 only */
export function renderPdf(lines) {
  const text = lines
    .map((line, i) => {
      const escaped = line.replace(/[\\()]/g, "\\$&");
      return i === 0 ? `/F1 22 Tf 72 760 Td (${escaped}) Tj /F1 13 Tf 0 -40 Td` : `(${escaped}) Tj 0 -22 Td`;
    })
    .join("\n");
  const content = `BT\n${text}\nET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
  ];
  let file = "%PDF-1.4\n";
  const offsets = objects.map((object, i) => {
    const offset = file.length;
    file += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = file.length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`;
  file += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`;
  return Buffer.from(file, "latin1");
}

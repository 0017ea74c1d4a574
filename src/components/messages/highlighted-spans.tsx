import type { TextSpan } from "#lib/text/search-matching.ts";

/** Text with the spans from `findMatches` marked. */
export function HighlightedSpans({ text, spans }: { text: string; spans: TextSpan[] }) {
  let end = 0;
  const parts = spans.flatMap((span) => {
    const between = text.slice(end, span.start);
    end = span.end;
    return [
      between,
      <mark key={span.start} className="rounded-sm bg-found text-on-found">
        {text.slice(span.start, span.end)}
      </mark>,
    ];
  });
  return (
    <>
      {parts}
      {text.slice(end)}
    </>
  );
}

/** Logo: two speech bubbles. Inline SVG, so that no page waits for an image request. */
export function BrandLogo({ className }: { className: string }) {
  return (
    <svg viewBox="0 0 64 64" className={className} aria-hidden="true" focusable="false">
      <path
        className="fill-$accent-fill"
        d="M26 5C13.3 5 4 13.2 4 24c0 5.5 2.4 10.2 6.3 13.6L8.5 46c-.3 1.4 1.2 2.5 2.5 1.8l8.3-4.5c2.2.5 4.4.7 6.7.7 12.7 0 22-8.2 22-20S38.7 5 26 5Z"
      />
      <path
        className="fill-$accent-light stroke-$bg"
        strokeWidth="3.5"
        d="M43 25c9.9 0 17.5 6.5 17.5 15.5 0 4.3-1.8 8-4.7 10.7l1.3 6.3c.3 1.4-1.2 2.5-2.4 1.8l-6.4-3.5c-1.7.4-3.5.6-5.3.6-9.9 0-17.5-6.7-17.5-15.9S33.1 25 43 25Z"
      />
      <path className="fill-none stroke-$bg" strokeWidth="3.5" strokeLinecap="round" d="M15 20h17M15 28h8" />
    </svg>
  );
}

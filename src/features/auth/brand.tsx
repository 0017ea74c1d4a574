/** The mark: two bubbles, one answering the other. Drawn here, so that no page waits for a picture of it. */
export function Mark({ className }: { className: string }) {
  return (
    <svg viewBox="0 0 64 64" className={className} aria-hidden="true" focusable="false">
      <path
        className="fill-$accent-fill"
        d="M26 5C13.3 5 4 13.2 4 24c0 5.500 2.400 10.200 6.300 13.600L8.500 46c-.3 1.400 1.200 2.500 2.500 1.800l8.300-4.500c2.200.5 4.400.7 6.700.7 12.700 0 22-8.200 22-20S38.700 5 26 5Z"
      />
      <path
        className="fill-$accent-light stroke-$bg"
        strokeWidth="3.500"
        d="M43 25c9.900 0 17.500 6.500 17.500 15.500 0 4.300-1.800 8-4.700 10.700l1.300 6.300c.3 1.400-1.200 2.500-2.400 1.800l-6.400-3.500c-1.700.4-3.500.6-5.300.6-9.900 0-17.500-6.700-17.500-15.900S33.100 25 43 25Z"
      />
      <path className="fill-none stroke-$bg" strokeWidth="3.500" strokeLinecap="round" d="M15 20h17M15 28h8" />
    </svg>
  );
}

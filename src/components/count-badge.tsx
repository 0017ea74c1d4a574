const shownMax = 99;

/** A small filled number. `label` is what a screen reader says instead of the bare figure. */
export function CountBadge({ count, label, className = "" }: { count: number; label?: string; className?: string }) {
  return (
    <span
      className={`inline-grid h-5 min-w-5 place-items-center rounded-full bg-accent px-1.5 text-xs leading-none font-bold text-on-accent tabular-nums ${className}`}
    >
      {label === undefined ? (
        <span>{count > shownMax ? `${shownMax}+` : count}</span>
      ) : (
        <>
          <span aria-hidden="true">{count > shownMax ? `${shownMax}+` : count}</span>
          <span className="sr-only">{label}</span>
        </>
      )}
    </span>
  );
}

const displayedMax = 99;

type CountBadgeProps = {
  count: number | "@" | "";
  /** Text for screen readers instead of the plain number. */
  label?: string;
  /** Uses a neutral colour, for a number that needs no action. */
  quiet?: boolean;
  className?: string;
};

/** Small filled badge with a number, an "@" instead of it, or nothing. */
export function CountBadge({ count, label, quiet = false, className = "" }: CountBadgeProps) {
  const text = typeof count === "number" && count > displayedMax ? `${displayedMax}+` : count;
  return (
    <span
      className={`inline-grid min-h-5 min-w-5 place-items-center rounded-full px-1.5 text-xs leading-none font-bold tabular-nums ${quiet ? (text === "" ? "bg-muted" : "bg-raised text-muted") : "bg-accent text-on-accent"} ${className}`}
    >
      {label === undefined ? (
        <span>{text}</span>
      ) : (
        <>
          <span aria-hidden="true">{text}</span>
          <span className="sr-only">{label}</span>
        </>
      )}
    </span>
  );
}

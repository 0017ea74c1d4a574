/** Progress indicator. `label` is for screen readers when no text next to it explains what is loading. */
export function Spinner({ label, className = "text-2xl" }: { label?: string; className?: string }) {
  const icon = <span className={`spinner ${className}`} aria-hidden="true" />;
  if (label === undefined) return icon;
  return (
    <span role="status" className="inline-flex">
      {icon}
      <span className="sr-only">{label}</span>
    </span>
  );
}

/** Label of a button with an icon before it, or above it where the longest word leaves no room beside. */
export function IconLabel({ icon, label }: { icon: string; label: string }) {
  return (
    <span className="flex flex-wrap items-center justify-center gap-x-2">
      <span className={`${icon} shrink-0 text-xl`} aria-hidden="true" />
      <span className="min-w-min max-w-[calc(100%-1.25rem-8px)]">{label}</span>
    </span>
  );
}

/** Label of a button with an icon before it. */
export function IconLabel({ icon, label }: { icon: string; label: string }) {
  return (
    <span className="flex items-center justify-center gap-2">
      <span className={`${icon} text-xl`} aria-hidden="true" />
      {label}
    </span>
  );
}

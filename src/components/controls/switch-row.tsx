import { useId } from "react";

type SwitchRowProps = {
  label: string;
  /** Explanation of the setting. */
  description: string;
  /** Id of a heading that precedes the label in the accessible name, for several rows with the same label. */
  groupHeadingId?: string;
  isOn: boolean;
  /** Has no effect now, as the description says. Stays focusable, so that the reason can be read. */
  isUnavailable?: boolean;
  onChange: (isOn: boolean) => void;
};

/** Switch that applies immediately. */
export function SwitchRow({
  label,
  description,
  groupHeadingId,
  isOn,
  isUnavailable = false,
  onChange,
}: SwitchRowProps) {
  const id = useId();
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isOn}
      aria-disabled={isUnavailable || undefined}
      aria-labelledby={groupHeadingId === undefined ? `${id}-label` : `${groupHeadingId} ${id}-label`}
      aria-describedby={`${id}-body`}
      className="flex min-h-14 w-full items-center gap-4 px-4 py-3 text-left -outline-offset-3 hover:bg-raised"
      onClick={isUnavailable ? undefined : () => onChange(!isOn)}
    >
      <span className="min-w-0 flex-1">
        <span id={`${id}-label`} className="block font-medium break-words">
          {label}
        </span>
        <span id={`${id}-body`} className="mt-0.5 block text-sm text-muted">
          {description}
        </span>
      </span>
      <span
        aria-hidden="true"
        className={`flex h-8 w-13 shrink-0 items-center rounded-full border-2 px-1 transition-colors ${isUnavailable ? "opacity-50" : ""} ${isOn ? "justify-end border-transparent bg-accent" : "border-field bg-surface"}`}
      >
        {/* The border is visible in forced-colors mode. */}
        <span className={`rounded-full border border-transparent ${isOn ? "size-5 bg-white" : "size-4 bg-field"}`} />
      </span>
    </button>
  );
}

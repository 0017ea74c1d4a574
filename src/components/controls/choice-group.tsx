import type { ReactNode } from "react";

type ChoiceOption<T extends string> = { value: T; label: string; lang?: string; icon?: string };
type ChoiceGroupProps<T extends string> = {
  legend: string;
  icon: string;
  name: string;
  choices: readonly ChoiceOption<T>[];
  value: T;
  onChoose: (value: T) => void;
  children?: ReactNode;
};

/** Radio group with all options visible; a choice applies immediately. Related content may follow as `children`. */
export function ChoiceGroup<T extends string>(props: ChoiceGroupProps<T>) {
  const { legend, icon, name, choices, value, onChoose, children } = props;
  return (
    <fieldset className="p-4 [overflow-wrap:anywhere]">
      <legend className="float-left mb-2 flex w-full items-center gap-3 font-semibold">
        <span className={`${icon} text-2xl text-muted`} aria-hidden="true" />
        {legend}
      </legend>
      <div
        className={`clear-both grid gap-2 ${choices.length === 4 ? "grid-cols-2 sm:grid-cols-4" : "grid-cols-[repeat(auto-fit,minmax(5.5rem,1fr))]"}`}
      >
        {choices.map((choice) => (
          <label
            key={choice.value}
            className="relative flex min-h-12 min-w-0 cursor-pointer flex-col items-center justify-center rounded-card border border-field px-0.5 py-2 text-center text-[0.9375rem] leading-tight max-[389px]:tracking-tight has-[:checked]:border-accent has-[:checked]:bg-accent-soft has-[:checked]:font-bold has-[:checked]:text-accent has-[:focus-visible]:outline-3 has-[:focus-visible]:outline-offset-2 has-[:focus-visible]:outline-accent"
          >
            <input
              type="radio"
              name={name}
              className="sr-only"
              lang={choice.lang}
              checked={value === choice.value}
              onChange={() => onChoose(choice.value)}
            />
            {choice.icon && <span className={`${choice.icon} mb-1 text-2xl`} aria-hidden="true" />}
            <span lang={choice.lang}>{choice.label}</span>
          </label>
        ))}
      </div>
      {children}
    </fieldset>
  );
}

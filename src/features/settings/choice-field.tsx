import { Fragment, type ReactNode, useId } from "react";

type ChoiceFieldProps<Value extends string> = {
  title: string;
  /** `details`: control shown below an option. */
  options: readonly { value: Value; label: string; body: string; details?: ReactNode }[];
  value: Value;
  onChoose: (value: Value) => void;
};

/** Radio group of a setting whose options are explained. */
export function ChoiceField<Value extends string>({ title, options, value, onChoose }: ChoiceFieldProps<Value>) {
  const id = useId();
  return (
    <fieldset className="px-1 py-3">
      <legend className="float-left w-full px-3 font-medium">{title}</legend>
      <div className="clear-both">
        {options.map(({ value: by, label, body, details }) => (
          <Fragment key={by}>
            <label className="relative flex min-h-12 cursor-pointer items-center gap-4 rounded-card px-3 py-2 hover:bg-raised has-[:focus-visible]:outline-3 has-[:focus-visible]:-outline-offset-3 has-[:focus-visible]:outline-accent has-[:focus-visible]:outline-solid">
              <input
                type="radio"
                name={id}
                value={by}
                className="peer sr-only"
                checked={value === by}
                aria-labelledby={`${id}-${by}`}
                aria-describedby={`${id}-${by}-body`}
                onChange={() => onChoose(by)}
              />
              <span className="min-w-0 flex-1">
                <span id={`${id}-${by}`} className="block">
                  {label}
                </span>
                <span id={`${id}-${by}-body`} className="block text-sm text-muted">
                  {body}
                </span>
              </span>
              <span
                aria-hidden="true"
                className="grid size-6 shrink-0 place-items-center rounded-full border-2 border-field peer-checked:border-accent peer-checked:[&>span]:visible"
              >
                <span className="invisible size-3 rounded-full border border-transparent bg-accent" />
              </span>
            </label>
            {details}
          </Fragment>
        ))}
      </div>
    </fieldset>
  );
}

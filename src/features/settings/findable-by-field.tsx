import { useId } from "react";
import { useTranslation } from "react-i18next";
import { type FindableBy, findableBy } from "#contract/settings/settings.ts";

/** Radio group: by which digits of the phone number other users can find the account. */
export function FindableByField({ value, onChoose }: { value: FindableBy; onChoose: (value: FindableBy) => void }) {
  const { t } = useTranslation();
  const id = useId();
  return (
    <fieldset className="px-1 py-3">
      <legend className="float-left w-full px-3 font-medium">{t("settings.privacy.findable.title")}</legend>
      <div className="clear-both">
        {findableBy.map((by) => (
          <label
            key={by}
            className="relative flex min-h-12 cursor-pointer items-center gap-4 rounded-card px-3 py-2 hover:bg-raised has-[:focus-visible]:outline-3 has-[:focus-visible]:-outline-offset-3 has-[:focus-visible]:outline-accent has-[:focus-visible]:outline-solid"
          >
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
                {t(`settings.privacy.findable.${by}`)}
              </span>
              <span id={`${id}-${by}-body`} className="block text-sm text-muted">
                {t(`settings.privacy.findable.${by}Body`)}
              </span>
            </span>
            <span
              aria-hidden="true"
              className="grid size-6 shrink-0 place-items-center rounded-full border-2 border-field peer-checked:border-accent peer-checked:[&>span]:visible"
            >
              <span className="invisible size-3 rounded-full border border-transparent bg-accent" />
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

import { useRef } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "./icon-button.tsx";

type SearchFieldProps = {
  label: string;
  value: string;
  placeholder?: string;
  inputMode?: "search" | "tel";
  maxLength?: number;
  invalid?: boolean;
  describedBy?: string;
  onChange: (value: string) => void;
  onSubmit?: () => void;
};

/** Single-line search field; Enter and the keyboard's search key submit it. */
export function SearchField({ label, value, onChange, onSubmit, ...props }: SearchFieldProps) {
  const { t } = useTranslation();
  const input = useRef<HTMLInputElement>(null);
  return (
    <search>
      <form
        className="field flex min-h-12 items-center rounded-full border border-field bg-surface pl-4"
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit?.();
        }}
      >
        <span className="i-ph-magnifying-glass shrink-0 text-xl text-muted" aria-hidden="true" />
        <input
          ref={input}
          type="search"
          enterKeyHint="search"
          autoComplete="off"
          autoCorrect="off"
          spellCheck={false}
          aria-label={label}
          aria-invalid={props.invalid}
          aria-describedby={props.describedBy}
          inputMode={props.inputMode ?? "search"}
          maxLength={props.maxLength}
          placeholder={props.placeholder ?? label}
          value={value}
          className="min-h-12 min-w-0 flex-1 appearance-none bg-transparent px-3 focus-visible:outline-none placeholder:text-muted"
          onChange={(event) => onChange(event.target.value)}
        />
        {value !== "" && (
          <IconButton
            icon="i-ph-x-circle"
            label={t("common.clear")}
            className="text-muted"
            onClick={() => {
              onChange("");
              input.current?.focus();
            }}
          />
        )}
      </form>
    </search>
  );
}

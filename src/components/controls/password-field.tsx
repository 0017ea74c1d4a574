import { type ComponentProps, useState } from "react";
import { useTranslation } from "react-i18next";
import { TextField } from "./text-field.tsx";

/** Password field with a button that reveals the password. */
export function PasswordField(props: Omit<ComponentProps<typeof TextField>, "end" | "type">) {
  const { t } = useTranslation();
  const [isShown, setShown] = useState(false);
  const label = t(isShown ? "auth.hidePassword" : "auth.showPassword");
  return (
    <TextField
      {...props}
      type={isShown ? "text" : "password"}
      autoCapitalize="none"
      autoCorrect="off"
      spellCheck={false}
      trailing={
        <button
          type="button"
          aria-label={label}
          title={label}
          aria-controls={props.id}
          onClick={() => setShown(!isShown)}
          className="inline-grid size-12 shrink-0 place-items-center rounded-card text-[20px] text-muted hover:text-text"
        >
          <span className={isShown ? "i-ph-eye-slash" : "i-ph-eye"} aria-hidden="true" />
        </button>
      }
    />
  );
}

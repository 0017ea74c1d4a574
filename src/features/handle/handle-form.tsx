import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import * as v from "valibot";
import { Button } from "#components/controls/button.tsx";
import { TextField } from "#components/controls/text-field.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { handleMaxLength } from "#contract/limits/people.ts";
import { TypedHandle } from "#contract/names/handles.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { requestHandleRemoval, saveHandle } from "./handle-api.ts";

/** Field to choose, change or remove the own handle. */
export function HandleForm({ initial }: { initial: string | null }) {
  const { t } = useTranslation();
  const [current, setCurrent] = useState(initial);
  const [typed, setTyped] = useState(initial ?? "");
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState<"save" | "remove">();
  const [isConfirming, setConfirming] = useState(false);

  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    if (!v.is(TypedHandle, typed)) return setProblem(t("errors.invalid_handle"));
    setBusy("save");
    try {
      const { handle } = await saveHandle(typed);
      setCurrent(handle);
      setTyped(handle ?? "");
      showToast({ message: t("handle.saved", { handle: handle ?? "" }) });
    } catch (error) {
      setProblem(toErrorText(error, t));
    }
    setBusy(undefined);
  };
  const remove = async () => {
    setBusy("remove");
    try {
      await requestHandleRemoval();
      setCurrent(null);
      setTyped("");
      setProblem(undefined);
      showToast({ message: t("handle.removed") });
    } catch (error) {
      showToast({ tone: "danger", title: t("common.error"), message: toErrorText(error, t) });
    }
    setBusy(undefined);
    setConfirming(false);
  };

  return (
    <form noValidate onSubmit={save} className="flex flex-col gap-4 p-4">
      <TextField
        id="handle"
        label={t("handle.field")}
        hint={t("handle.hint")}
        error={problem}
        focusOnError
        // One more for "@"
        maxLength={handleMaxLength + 1}
        autoComplete="off"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        enterKeyHint="done"
        dir="ltr"
        readOnly={busy !== undefined}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          setProblem(undefined);
        }}
      />
      <div className="flex flex-wrap gap-3">
        <Button type="submit" busy={busy === "save"} disabled={busy === "remove"} className="grow">
          {t("handle.save")}
        </Button>
        {current !== null && (
          <Button
            variant="secondary"
            disabled={busy !== undefined}
            className="grow"
            onClick={() => setConfirming(true)}
          >
            {t("handle.remove")}
          </Button>
        )}
      </div>
      <ConfirmDialog
        open={isConfirming}
        title={t("handle.removeTitle")}
        body={t("handle.removeBody")}
        confirmLabel={t("handle.remove")}
        cancelLabel={t("common.cancel")}
        busy={busy === "remove"}
        onConfirm={() => void remove()}
        onClose={() => setConfirming(false)}
      />
    </form>
  );
}

import { useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { PageNotice } from "#components/overlays/toast-stack.tsx";
import { saveAnswer } from "#lib/push/ask-history.ts";
import { devicePush } from "#lib/push/browser-push.ts";
import { toPushErrorText } from "#lib/push/push-error-text.ts";

/** Question over the page whether to turn on notifications. It takes no focus and stays until it is answered. */
export function AskCard({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const id = useId();
  const [isBusy, setBusy] = useState(false);
  const close = () => {
    saveAnswer(false);
    onClose();
  };
  const turnOn = async () => {
    setBusy(true);
    try {
      if (await devicePush.turnOn()) showToast({ message: t("push.isOn") });
      else {
        saveAnswer(false);
        if (devicePush.state.get() === "denied") showToast({ title: t("push.failed"), message: t("push.denied") });
      }
    } catch (error) {
      saveAnswer(false);
      showToast({ tone: "danger", title: t("push.failed"), message: toPushErrorText(error, t) });
    }
    onClose();
  };
  return (
    <PageNotice>
      <section
        aria-labelledby={id}
        className="rise pointer-events-auto mb-2 w-full max-w-104 rounded-card border border-line bg-surface p-4 text-text shadow-lg"
        onKeyDown={({ key }) => key === "Escape" && !isBusy && close()}
      >
        <div role="status">
          <h2 id={id} className="font-semibold leading-snug">
            {t("push.ask")}
          </h2>
          <p className="spare mt-1 text-sm text-muted">{t("push.askBody")}</p>
        </div>
        <div className="mt-3 flex flex-wrap justify-end gap-2">
          <Button variant="quiet" disabled={isBusy} onClick={close}>
            {t("push.later")}
          </Button>
          <Button busy={isBusy} onClick={() => void turnOn()}>
            {t("push.turnOn")}
          </Button>
        </div>
      </section>
    </PageNotice>
  );
}

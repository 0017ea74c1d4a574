import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { locales } from "#i18n/locales.ts";
import { useLanguage } from "#i18n/setup.ts";
import { subscribePushMessages } from "#lib/browser/push/push-messages.ts";
import { devicePush } from "#lib/push/browser-push.ts";
import { toPushErrorText } from "#lib/push/push-error-text.ts";

const arrivalTimeoutMs = 20_000;

/** Sends a notification to this device and shows how long it took. */
export function PushTest() {
  const { t } = useTranslation();
  const language = useLanguage();
  const [isBusy, setBusy] = useState(false);
  const [result, setResult] = useState("");
  const startedAt = useRef<number>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  const finish = (text: string) => {
    clearTimeout(timer.current);
    startedAt.current = undefined;
    setBusy(false);
    setResult(text);
  };
  const onArrived = useEffectEvent(() => {
    if (startedAt.current === undefined) return;
    const seconds = (performance.now() - startedAt.current) / 1_000;
    const format = new Intl.NumberFormat(locales[language], { maximumFractionDigits: 1 });
    finish(t("settings.push.arrived", { seconds: format.format(seconds) }));
  });
  useEffect(() => {
    const unsubscribe = subscribePushMessages((message) => {
      if (message.type === "push-arrived" && message.kind === "test") onArrived();
    });
    return () => {
      unsubscribe();
      clearTimeout(timer.current);
    };
  }, []);

  const send = async () => {
    setBusy(true);
    setResult("");
    startedAt.current = performance.now();
    try {
      const status = await devicePush.requestTest();
      if (status === "gone") finish(t("settings.push.gone"));
      else if (status === "failed") finish(t("settings.push.notSent"));
      // The notification may arrive before the answer of the server.
      else if (startedAt.current !== undefined)
        timer.current = setTimeout(() => finish(t("settings.push.late")), arrivalTimeoutMs);
    } catch (error) {
      finish(toPushErrorText(error, t));
    }
  };
  return (
    <div className="flex flex-col gap-2 px-4 py-3">
      <Button variant="secondary" busy={isBusy} busyLabel={t("settings.push.testing")} onClick={() => void send()}>
        {t("settings.push.test")}
      </Button>
      <p role="status" className="text-sm text-muted empty:hidden">
        {result}
      </p>
    </div>
  );
}

import { useEffect, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { SwitchRow } from "#components/controls/switch-row.tsx";
import { SettingsCard } from "#components/layout/settings-page.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import type { TextKey } from "#i18n/setup.ts";
import { saveAnswer } from "#lib/push/ask-history.ts";
import { devicePush } from "#lib/push/browser-push.ts";
import { toPushErrorText } from "#lib/push/push-error-text.ts";
import type { PushState } from "#lib/push/push-state.ts";
import { PushStatus } from "./push-status.tsx";
import { PushTest } from "./push-test.tsx";

/** Why notifications cannot be turned on here. */
const obstacles: Partial<Record<PushState, TextKey>> = {
  unsupported: "settings.push.unsupported",
  "needs-home-screen": "settings.push.needsHomeScreen",
  denied: "settings.push.denied",
};

/** Notifications on this device while the app is closed: the switch, what prevents them, and a test. */
export function PushCard() {
  const { t } = useTranslation();
  const state = useSyncExternalStore(devicePush.state.subscribe, devicePush.state.get);
  // Shows the wanted position while the browser asks and the server is reached.
  const [wanted, setWanted] = useState<boolean>();
  useEffect(() => {
    const update = () => void devicePush.start().catch(() => undefined); // the permission may have changed meanwhile
    update();
    addEventListener("focus", update);
    return () => removeEventListener("focus", update);
  }, []);

  const change = async (isOn: boolean) => {
    if (wanted !== undefined) return;
    setWanted(isOn);
    try {
      if (isOn) await devicePush.turnOn();
      else {
        saveAnswer(true);
        await devicePush.turnOff();
      }
    } catch (error) {
      showToast({ tone: "danger", title: t("push.failed"), message: toPushErrorText(error, t) });
    }
    setWanted(undefined);
  };
  const obstacle = obstacles[state];
  return (
    <SettingsCard title={t("settings.push.title")} icon="i-ph-bell">
      {() =>
        obstacle ? (
          <>
            <p className="px-4 py-3 text-sm">{t(obstacle)}</p>
            {state === "denied" && <PushStatus />}
          </>
        ) : (
          <>
            <SwitchRow
              label={t("settings.push.label")}
              description={t("settings.push.body")}
              isOn={wanted ?? state === "on"}
              onChange={(isOn) => void change(isOn)}
            />
            {state === "on" && <PushTest />}
            <PushStatus />
          </>
        )
      }
    </SettingsCard>
  );
}

import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { locales } from "#i18n/locales.ts";
import { useLanguage } from "#i18n/setup.ts";
import { type LastPush, readLastPush } from "#lib/browser/push/last-push.ts";
import { type PushDevice, readPushDevice } from "#lib/browser/push/push-device.ts";
import { subscribePushMessages } from "#lib/browser/push/push-messages.ts";
import { getServerNow } from "#lib/browser/time/clock.ts";

const permissionTexts = {
  granted: "settings.pushStatus.granted",
  denied: "settings.pushStatus.denied",
  default: "settings.pushStatus.notAsked",
} as const;

/** Time between sending and arrival in seconds. The device's clock is corrected by the server's. */
const toLatencySeconds = ({ sentAt, receivedAt }: LastPush): number =>
  Math.max(0, receivedAt + (getServerNow() - Date.now()) - sentAt) / 1_000;

/** Permission, subscription and last push of this device, for finding out why notifications do not arrive. */
export function PushStatus() {
  const { t } = useTranslation();
  const locale = locales[useLanguage()];
  const [device, setDevice] = useState<PushDevice>();
  const [last, setLast] = useState<LastPush>();
  useEffect(() => {
    let isCurrent = true;
    const update = async () => {
      const [readDevice, readLast] = await Promise.all([readPushDevice(), readLastPush()]);
      if (!isCurrent) return;
      setDevice(readDevice);
      setLast(readLast);
    };
    void update();
    const unsubscribe = subscribePushMessages(({ type }) => type === "push-arrived" && void update());
    return () => {
      isCurrent = false;
      unsubscribe();
    };
  }, []);
  const formatTime = (ms: number) =>
    new Intl.DateTimeFormat(locale, { dateStyle: "short", timeStyle: "short" }).format(ms);
  const formatSeconds = (seconds: number) =>
    new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }).format(seconds);
  const facts = [
    [t("settings.pushStatus.permission"), t(permissionTexts[Notification.permission])],
    [
      t("settings.pushStatus.subscription"),
      device ? t("settings.pushStatus.savedAt", { time: formatTime(device.savedAt) }) : t("settings.pushStatus.none"),
    ],
    [
      t("settings.pushStatus.last"),
      last
        ? t("settings.pushStatus.arrivedAt", {
            time: formatTime(last.receivedAt),
            seconds: formatSeconds(toLatencySeconds(last)),
          })
        : t("settings.pushStatus.noneYet"),
    ],
  ] as const;
  return (
    <dl className="flex flex-col gap-y-1 px-4 py-3 text-sm">
      {facts.map(([name, value]) => (
        <div key={name} className="flex flex-wrap gap-x-4">
          <dt className="text-muted">{name}</dt>
          <dd className="ms-auto text-end">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

import { useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { SwitchRow } from "#components/controls/switch-row.tsx";
import { FieldError } from "#components/controls/text-field.tsx";
import { SettingsCard } from "#components/layout/settings-page.tsx";
import { isTimeZone, type QuietHours } from "#contract/settings/settings.ts";

const minutesPerHour = 60;

const toTimeText = (minuteOfDay: number): string => {
  const [hour, minute] = [Math.floor(minuteOfDay / minutesPerHour), minuteOfDay % minutesPerHour];
  return `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
};

/** Minute after midnight of a time field; undefined while the time is incomplete. */
const fromTimeText = (text: string): number | undefined => {
  const [, hour, minute] = /^(\d\d):(\d\d)/.exec(text) ?? [];
  return hour === undefined ? undefined : Number(hour) * minutesPerHour + Number(minute);
};

/** IANA time zone of this device. One that has an offset instead gets the zone of the nearest whole hour. */
const getTimeZone = (): string => {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  if (isTimeZone(timeZone)) return timeZone;
  const hours = Math.round(new Date().getTimezoneOffset() / minutesPerHour);
  return `Etc/GMT${hours < 0 ? "" : "+"}${hours}`;
};

type TimeFieldProps = { label: string; minuteOfDay: number; onChange: (minuteOfDay: number) => void };

/**
 * Uncontrolled, so that a time being typed is not replaced by the stored one. A field that is left without a complete
 * time shows the stored one again, and says so.
 */
function TimeField({ label, minuteOfDay, onChange }: TimeFieldProps) {
  const { t } = useTranslation();
  const id = useId();
  const [isIncomplete, setIncomplete] = useState(false);
  const stored = toTimeText(minuteOfDay);
  const error = isIncomplete ? t("settings.notifications.quiet.kept", { time: stored }) : undefined;
  return (
    <div className="min-w-32 flex-1">
      <label htmlFor={id} className="mb-1 block text-sm font-semibold">
        {label}
      </label>
      <input
        id={id}
        type="time"
        required
        defaultValue={stored}
        aria-invalid={error ? true : undefined}
        aria-describedby={error && `${id}-error`}
        className="min-h-12 w-full rounded-card border border-field bg-surface px-2 py-2 text-text"
        onChange={({ target }) => {
          const changed = fromTimeText(target.value);
          if (changed === undefined) return;
          setIncomplete(false);
          onChange(changed);
        }}
        onBlur={({ target }) => {
          if (fromTimeText(target.value) !== undefined) return;
          target.value = stored;
          setIncomplete(true);
        }}
      />
      <div role="alert">
        <FieldError id={id} error={error} />
      </div>
    </div>
  );
}

type QuietHoursCardProps = { quietHours: QuietHours; onChange: (changed: Partial<QuietHours>) => void };

/** Daily period without notifications. Every change adopts the time zone of this device. */
export function QuietHoursCard({ quietHours, onChange }: QuietHoursCardProps) {
  const { t } = useTranslation();
  const change = (changed: Partial<QuietHours>) => onChange({ timeZone: getTimeZone(), ...changed });
  return (
    <SettingsCard title={t("settings.notifications.quiet.title")} icon="i-ph-moon">
      {(heading) => (
        <>
          <SwitchRow
            label={t("settings.notifications.quiet.on")}
            description={t("settings.notifications.quiet.onBody")}
            isOn={quietHours.isOn}
            onChange={(isOn) => change({ isOn })}
          />
          {quietHours.isOn && (
            <>
              <div className="p-4">
                <fieldset aria-labelledby={heading} className="flex flex-wrap gap-4">
                  <TimeField
                    label={t("settings.notifications.quiet.from")}
                    minuteOfDay={quietHours.from}
                    onChange={(from) => change({ from })}
                  />
                  <TimeField
                    label={t("settings.notifications.quiet.to")}
                    minuteOfDay={quietHours.to}
                    onChange={(to) => change({ to })}
                  />
                </fieldset>
                {quietHours.from === quietHours.to && (
                  <p className="mt-2 text-sm">{t("settings.notifications.quiet.allDay")}</p>
                )}
                <p className="mt-2 text-sm text-muted">
                  {t("settings.notifications.quiet.zone", { zone: quietHours.timeZone })}
                </p>
              </div>
              <SwitchRow
                label={t("settings.notifications.quiet.calls")}
                description={t("settings.notifications.quiet.callsBody")}
                isOn={quietHours.allowsCalls}
                onChange={(allowsCalls) => change({ allowsCalls })}
              />
            </>
          )}
        </>
      )}
    </SettingsCard>
  );
}

import { useId } from "react";
import { useTranslation } from "react-i18next";
import { SwitchRow } from "#components/controls/switch-row.tsx";
import { SettingsCard } from "#components/layout/settings-page.tsx";
import type { QuietHours } from "#contract/settings/settings.ts";

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

const getTimeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

type TimeFieldProps = { label: string; minuteOfDay: number; onChange: (minuteOfDay: number) => void };

/** Uncontrolled, so that a time being typed is not replaced by the stored one. */
function TimeField({ label, minuteOfDay, onChange }: TimeFieldProps) {
  const id = useId();
  return (
    <div className="min-w-32 flex-1">
      <label htmlFor={id} className="mb-1 block text-sm font-semibold">
        {label}
      </label>
      <input
        id={id}
        type="time"
        required
        defaultValue={toTimeText(minuteOfDay)}
        className="min-h-12 w-full rounded-card border border-field bg-surface px-2 py-2 text-text"
        onChange={({ target }) => {
          const changed = fromTimeText(target.value);
          if (changed !== undefined) onChange(changed);
        }}
      />
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

import { useTranslation } from "react-i18next";
import { ChoiceGroup } from "#components/controls/choice-group.tsx";
import { Screen } from "#components/layout/screen.tsx";
import type { TextKey } from "#i18n/setup.ts";
import { motions, setAppearance, textSizes, themes, useAppearance } from "#lib/browser/appearance.ts";

const themeOptions = {
  system: { label: "appearance.asSystem", icon: "i-ph-device-mobile" },
  light: { label: "appearance.light", icon: "i-ph-sun" },
  dark: { label: "appearance.dark", icon: "i-ph-moon" },
} as const;
const textLabels = {
  small: "appearance.small",
  normal: "appearance.normal",
  large: "appearance.large",
  larger: "appearance.larger",
} as const;
const motionLabels = { system: "appearance.asSystem", still: "appearance.still" } as const;

/** Sample chat in the current appearance. */
function AppearancePreview() {
  const { t } = useTranslation();
  const bubble = "max-w-[85%] rounded-bubble px-3 py-2 break-words";
  return (
    <section aria-label={t("appearance.sample")} className="flex flex-col gap-2 rounded-card border border-line p-4">
      <p className={`${bubble} self-start rounded-bl-md border border-line bg-surface`}>
        {t("appearance.sampleTheirs")}
      </p>
      <p className={`${bubble} self-end rounded-br-md bg-own`}>{t("appearance.sampleOwn")}</p>
    </section>
  );
}

/** Appearance settings of this device. Applied at once, and from the first paint after a reload. */
export default function AppearanceScreen() {
  const { t } = useTranslation();
  const { theme, text, motion } = useAppearance();
  const toChoices = <T extends string>(values: readonly T[], labels: Record<T, TextKey>) =>
    values.map((value) => {
      const label: TextKey = labels[value];
      return { value, label: t(label) };
    });
  return (
    <Screen
      title={t("appearance.title")}
      description={t("appearance.description")}
      backPath="/app/profile"
      backMode="previous"
      hasProfileButton={false}
    >
      <div className="mx-auto flex w-full max-w-120 flex-col gap-4 p-4 pb-8">
        <AppearancePreview />
        <div className="divide-y divide-line rounded-card border border-line bg-surface">
          <ChoiceGroup
            legend={t("appearance.theme")}
            icon="i-ph-palette"
            name="theme"
            choices={themes.map((value) => ({
              value,
              label: t(themeOptions[value].label),
              icon: themeOptions[value].icon,
            }))}
            value={theme}
            onChoose={(theme) => setAppearance({ theme })}
          />
          <ChoiceGroup
            legend={t("appearance.text")}
            icon="i-ph-text-aa"
            name="text"
            choices={toChoices(textSizes, textLabels)}
            value={text}
            onChoose={(text) => setAppearance({ text })}
          />
          <ChoiceGroup
            legend={t("appearance.motion")}
            icon="i-ph-person-simple-run"
            name="motion"
            choices={toChoices(motions, motionLabels)}
            value={motion}
            onChoose={(motion) => setAppearance({ motion })}
          />
        </div>
        <p className="px-4 text-center text-sm text-muted">{t("appearance.here")}</p>
      </div>
    </Screen>
  );
}

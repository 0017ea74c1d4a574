import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ChoiceGroup } from "#components/controls/choice-group.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { type Language, languageNames, languages } from "#contract/language.ts";
import { t as currentText, setLanguage, useLanguage } from "#i18n/setup.ts";

const choices = languages.map((language) => ({
  value: language,
  label: languageNames[language],
  lang: language,
}));

/** Language of the app, including date and time formats. */
export function LanguagePicker() {
  const { t } = useTranslation();
  const current = useLanguage();
  const [selected, setSelected] = useState<Language>();
  const choose = async (language: Language) => {
    setSelected(language);
    try {
      if (!(await setLanguage(language))) return;
      showToast({ message: currentText("profile.languageChanged", { language: languageNames[language] }) });
    } catch {
      // Offline, and the texts of that language are not cached: the language stays unchanged.
      showToast({ title: t("common.error"), message: t("errors.offline"), tone: "danger" });
    } finally {
      setSelected((now) => (now === language ? undefined : now));
    }
  };
  return (
    <ChoiceGroup
      legend={t("common.language")}
      icon="i-ph-translate"
      name="language"
      choices={choices}
      value={selected ?? current}
      onChoose={(language) => void choose(language)}
    />
  );
}

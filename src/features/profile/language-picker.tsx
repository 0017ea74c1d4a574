import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ChoiceGroup } from "#components/controls/choice-group.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { type Language, languages } from "#contract/language.ts";
import { t as currentText, setLanguage, useLanguage } from "#i18n/setup.ts";

const languageNames: Record<Language, string> = { fr: "Français", en: "English", pt: "Português" };
const choices = languages.map((language) => ({
  value: language,
  label: languageNames[language],
  lang: language,
}));

/** The language of everything, dates and times included. */
export function LanguagePicker() {
  const { t } = useTranslation();
  const current = useLanguage();
  const [wanted, setWanted] = useState<Language>();
  const choose = async (language: Language) => {
    setWanted(language);
    try {
      if (!(await setLanguage(language))) return;
      showToast({ message: currentText("profile.languageChanged", { language: languageNames[language] }) });
    } catch {
      // The texts of that language are not on this phone and the network is away: the choice stays as it was.
      showToast({ title: t("common.error"), message: t("errors.offline"), tone: "danger" });
    } finally {
      setWanted((now) => (now === language ? undefined : now));
    }
  };
  return (
    <ChoiceGroup
      legend={t("common.language")}
      icon="i-ph-translate"
      name="language"
      choices={choices}
      value={wanted ?? current}
      onChoose={(language) => void choose(language)}
    />
  );
}

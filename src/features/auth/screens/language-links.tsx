import type { MouseEvent } from "react";
import { useTranslation } from "react-i18next";
import { type Language, languageNames, languageParameter, languages } from "#contract/language.ts";
import { setLanguage, useLanguage } from "#i18n/setup.ts";

/**
 * Language picker made of plain links, which work before the script has loaded and without it. With the script the
 * texts change in place and typed input is kept.
 */
export function LanguageLinks({ short = false }: { short?: boolean }) {
  const { t } = useTranslation();
  const current = useLanguage();
  const choose = (event: MouseEvent, language: Language) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    const link = event.currentTarget.getAttribute("href") ?? "";
    setLanguage(language)
      .then(() => history.replaceState(history.state, "", location.pathname))
      // The texts could not be loaded: request the page in that language from the server.
      .catch(() => location.assign(link));
  };
  return (
    <nav aria-label={t("auth.chooseLanguage")}>
      <ul className={short ? "flex" : "flex flex-wrap justify-center"}>
        {languages.map((language) => (
          <li key={language}>
            <a
              href={`?${languageParameter}=${language}`}
              hrefLang={language}
              lang={language}
              aria-current={language === current ? "true" : undefined}
              onClick={(event) => choose(event, language)}
              className="group inline-flex min-h-12 min-w-12 items-center justify-center rounded-full px-1 text-sm font-semibold text-muted aria-[current=true]:text-accent"
            >
              <span
                className={`rounded-full py-1.5 ${short ? "px-2 min-[350px]:px-3" : "px-3"} group-hover:bg-raised group-aria-[current=true]:bg-accent-soft`}
              >
                {short ? (
                  <>
                    <span aria-hidden="true">{language.toUpperCase()}</span>
                    <span className="sr-only">{languageNames[language]}</span>
                  </>
                ) : (
                  languageNames[language]
                )}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

import { createContext, type ReactNode, useContext, useEffect, useId, useRef } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router";
import { BackLink, type BackMode } from "./back-link.tsx";

/** What stands at the end of every header (the profile button), put in by the shell, which knows who is signed in. */
export const HeaderTrailingContext = createContext<ReactNode>(null);

/**
 * Whether this part of the window is the page (its heading names the document and takes the focus) or stands
 * beside the page, as the conversation list beside an open chat.
 */
export const IsPageContext = createContext(true);

type ScreenProps = {
  /** Names the document and, unless `heading` is given, stands in the header. */
  title: string;
  /** The document's description. */
  description: string;
  /** What the title means, in small below it and in the document's name. */
  subtitle?: string;
  /** Shown in the header instead of the title: a chat puts avatar and name here. It is wrapped in the h1. */
  heading?: ReactNode;
  /** The path the back button leads to. */
  backPath?: string;
  backMode?: BackMode;
  /** Buttons of this screen, before the profile button. */
  actions?: ReactNode;
  /** False where the header has no room for the profile button (a chat). */
  hasProfileButton?: boolean;
  /** False when the screen scrolls a part of itself (a virtual list, a chat). */
  scrolls?: boolean;
  children: ReactNode;
};

const setMetaDescription = (text: string): void => {
  let meta = document.querySelector<HTMLMetaElement>('meta[name="description"]');
  if (!meta) {
    meta = document.createElement("meta");
    meta.name = "description";
    document.head.append(meta);
  }
  meta.content = text;
};

/** A screen under the shared 72 px header. */
export function Screen({ title, subtitle, description, heading, backPath, actions, children, ...props }: ScreenProps) {
  const { hasProfileButton = true, scrolls = true, backMode = "up" } = props;
  const { t } = useTranslation();
  const headingId = useId();
  const headingRef = useRef<HTMLHeadingElement>(null);
  const headerEnd = useContext(HeaderTrailingContext);
  const isPage = useContext(IsPageContext);
  const { key } = useLocation();

  useEffect(() => {
    if (!isPage) return;
    document.title = `${subtitle ? `${title} – ${subtitle}` : title} · Lisolo`;
    setMetaDescription(description);
  }, [isPage, title, subtitle, description]);

  // After a navigation a screen reader reads on from the new heading, unless the screen itself chose a better place
  // (a composer). A first page load keeps the browser's own start.
  useEffect(() => {
    const heading = headingRef.current;
    if (!isPage || key === "default" || heading?.closest("[data-screen]")?.contains(document.activeElement)) return;
    heading?.focus({ preventScroll: true });
  }, [isPage, key]);

  return (
    // One element in both parts: another one would be a new screen, and scrolled back to its start.
    <section
      role={isPage ? "main" : undefined}
      data-screen
      aria-labelledby={headingId}
      className="flex min-h-0 min-w-0 flex-1 flex-col bg-bg"
    >
      <header className="screen-header z-10 flex h-[72px] shrink-0 items-center gap-1 border-b border-line bg-surface pr-2 pl-2">
        {backPath !== undefined && <BackLink to={backPath} mode={backMode} label={t("common.back")} />}
        <div className={`min-w-0 flex-1 ${backPath === undefined ? "pl-2" : ""}`}>
          <h1
            id={headingId}
            ref={headingRef}
            tabIndex={-1}
            // Text of any size leaves the header's edges free.
            className={`truncate font-bold focus-visible:outline-none ${
              subtitle
                ? "text-[length:min(calc(1rem+4px),30px)] leading-[min(1.75rem,36px)]"
                : "text-[length:calc(1rem+4px)] leading-[min(1.75rem,42px)]"
            }`}
          >
            {heading ?? title}
          </h1>
          {subtitle && (
            <p className="truncate text-[length:min(0.875rem,20px)] leading-[min(1.25rem,26px)] text-muted">
              {subtitle}
            </p>
          )}
        </div>
        {actions}
        {hasProfileButton && headerEnd}
      </header>
      <div className={`flex min-h-0 flex-1 flex-col ${scrolls ? "relative overflow-y-auto overscroll-contain" : ""}`}>
        {children}
      </div>
    </section>
  );
}

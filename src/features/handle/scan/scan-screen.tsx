import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link, useNavigate } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { IconLabel } from "#components/controls/icon-label.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import { Screen } from "#components/layout/screen.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { parseScannedVouching } from "#contract/auth/vouching.ts";
import { parseScannedLink, toLinkAppPath } from "#contract/names/personal-link.ts";
import { readCodeOfFile } from "./code-reader.ts";
import { type CameraState, useScanningCamera } from "./use-scanning-camera.ts";

const shownCharacters = 500;

type CodeReceiver = { onCode: (text: string) => void };

/** Picture of the camera, or why there is none. */
function CameraView({ onCode }: CodeReceiver) {
  const { t } = useTranslation();
  const video = useRef<HTMLVideoElement>(null);
  const [attempt, setAttempt] = useState(0);
  const state: CameraState = useScanningCamera(video, attempt, onCode);
  const hasProblem = state !== "opening" && state !== "open";
  return (
    <>
      <div className="relative aspect-square w-full overflow-hidden rounded-card border border-line bg-raised">
        <video
          ref={video}
          autoPlay
          muted
          playsInline
          aria-label={t("scan.camera")}
          className={`size-full object-cover ${hasProblem ? "invisible" : ""}`}
        />
        {state === "opening" && (
          <div className="absolute inset-0 grid place-items-center">
            <Spinner className="text-4xl text-accent" />
          </div>
        )}
        {hasProblem && (
          <div className="absolute inset-0 flex flex-col items-center justify-center gap-3 p-6 text-center">
            <span className="i-ph-camera-slash text-4xl text-muted" aria-hidden="true" />
            <p role="alert">{t(`scan.problems.${state}`)}</p>
            <Button variant="secondary" onClick={() => setAttempt(attempt + 1)}>
              {t("common.retry")}
            </Button>
          </div>
        )}
      </div>
      <p role="status" className="text-center text-muted">
        {!hasProblem && t(state === "open" ? "scan.aim" : "scan.opening")}
      </p>
    </>
  );
}

/** Reads the code of a picture from the device: without a camera, or for a code that somebody sent. */
function PictureChoice({ onCode }: CodeReceiver) {
  const { t } = useTranslation();
  const input = useRef<HTMLInputElement>(null);
  const [isReading, setReading] = useState(false);
  const read = async (file: File) => {
    setReading(true);
    const fail = (text: "scan.noCode" | "scan.noPicture") =>
      showToast({ tone: "danger", title: t("common.error"), message: t(text) });
    try {
      const code = await readCodeOfFile(file);
      if (code) onCode(code);
      else fail("scan.noCode");
    } catch {
      fail("scan.noPicture");
    }
    setReading(false);
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        accept="image/*"
        hidden
        aria-label={t("scan.choosePicture")}
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          currentTarget.value = ""; // the same picture can be chosen again
          if (file) void read(file);
        }}
      />
      <Button variant="secondary" busy={isReading} onClick={() => input.current?.click()}>
        <IconLabel icon="i-ph-image" label={t("scan.choosePicture")} />
      </Button>
    </>
  );
}

/** Text of a code that opens nothing here. It is shown and never opened. */
function OtherCode({ text, onAgain }: { text: string; onAgain: () => void }) {
  const { t } = useTranslation();
  return (
    <>
      <div role="alert" className="flex flex-col gap-3 rounded-card border border-line bg-surface p-4">
        <p className="font-semibold">{t("scan.other.title")}</p>
        <p className="text-muted">{t("scan.other.body")}</p>
        <p dir="auto" className="rounded-card bg-raised px-4 py-3 text-sm break-all whitespace-pre-wrap select-text">
          {text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text}
        </p>
      </div>
      <Button autoFocus onClick={onAgain}>
        {t("scan.again")}
      </Button>
    </>
  );
}

/** Route /app/senga/scan: scans the QR code of a personal link, or of a contact whose number is to be confirmed. */
export default function ScanScreen() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [otherCode, setOtherCode] = useState<string>();
  const open = (text: string) => {
    const token = parseScannedLink(text, location.origin);
    const path = token === undefined ? parseScannedVouching(text, location.origin) : toLinkAppPath(token);
    if (path === undefined) setOtherCode(text);
    else navigate(path, { replace: true });
  };
  return (
    <Screen
      title={t("scan.title")}
      description={t("scan.description")}
      backPath="/app/senga"
      backMode="previous"
      hasProfileButton={false}
    >
      <div className="mx-auto flex w-full max-w-100 flex-col gap-4 p-4 pb-8">
        {otherCode === undefined ? (
          <CameraView onCode={open} />
        ) : (
          <OtherCode text={otherCode} onAgain={() => setOtherCode(undefined)} />
        )}
        <PictureChoice onCode={open} />
        <Link
          to="/app/handle"
          className="inline-flex min-h-12 items-center justify-center gap-2 rounded-card px-6 py-2 font-semibold text-accent hover:bg-raised"
        >
          <span className="i-ph-qr-code text-xl" aria-hidden="true" />
          {t("scan.mine")}
        </Link>
      </div>
    </Screen>
  );
}

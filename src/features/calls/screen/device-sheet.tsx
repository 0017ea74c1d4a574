import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { selectDevice } from "#calls/actions.ts";
import type { SelectedDevices } from "#calls/media/media-preferences.ts";
import type { MediaView } from "#calls/media/media-session.ts";
import { Sheet } from "#components/overlays/sheet.tsx";
import type { AudioOutput } from "#features/calls/hooks/use-remote-audio.ts";
import type { TextKey } from "#i18n/setup.ts";

type DeviceSheetProps = {
  hasVideo: boolean;
  audioOutput: AudioOutput;
  media: Pick<MediaView, "mic" | "camera" | "local">;
  selected: SelectedDevices;
  onClose: () => void;
};

const useMediaDevices = (): MediaDeviceInfo[] | undefined => {
  const [devices, setDevices] = useState<MediaDeviceInfo[]>();
  useEffect(() => {
    const media = navigator.mediaDevices as MediaDevices | undefined;
    const update = () =>
      void media?.enumerateDevices().then(
        (all) => setDevices(all.filter(({ deviceId }) => deviceId !== "")),
        () => setDevices([]),
      );
    update();
    media?.addEventListener("devicechange", update);
    return () => media?.removeEventListener("devicechange", update);
  }, []);
  return devices;
};

type DeviceGroupProps = {
  title: TextKey;
  icon: string;
  devices: readonly Pick<MediaDeviceInfo, "deviceId" | "label">[];
  selected: string | undefined;
  /** Text shown if there is no device. */
  emptyText?: TextKey | undefined;
  onChoose: (id: string) => void;
};

function DeviceGroup({ title, icon, devices, selected, emptyText = "calls.devices.none", onChoose }: DeviceGroupProps) {
  const { t } = useTranslation();
  return (
    <fieldset className="py-2">
      <legend className="flex items-center gap-2 px-4 py-2 font-semibold">
        <span className={`${icon} text-xl text-accent`} aria-hidden="true" />
        {t(title)}
      </legend>
      {devices.length === 0 && <p className="px-4 py-2 text-muted">{t(emptyText)}</p>}
      {devices.map(({ deviceId, label }, index) => (
        <label key={deviceId} className="flex min-h-12 cursor-pointer items-center gap-3 px-4 py-2 hover:bg-raised">
          <input
            type="radio"
            name={title}
            className="size-5 shrink-0 accent-[var(--accent-fill)]"
            checked={deviceId === selected}
            onChange={() => onChoose(deviceId)}
          />
          <span className="min-w-0 break-words">{label || t("calls.devices.unnamed", { number: index + 1 })}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** Id of the device a stream comes from. */
const findUsedDevice = (local: MediaStream | undefined, kind: "audioinput" | "videoinput"): string | undefined =>
  (kind === "audioinput" ? local?.getAudioTracks() : local?.getVideoTracks())?.[0]?.getSettings().deviceId;

/** Sheet for choosing microphone, camera and audio output. A choice applies at once. */
export default function DeviceSheet({ hasVideo, audioOutput, media, selected, onClose }: DeviceSheetProps) {
  const { t } = useTranslation();
  const devices = useMediaDevices() ?? [];
  const [hasOutputFailed, setOutputFailed] = useState(false);
  // The browser does not name devices without permission.
  const emptyTexts = {
    audioinput: media.mic === "refused" ? "calls.notice.micRefused" : undefined,
    videoinput: media.camera === "refused" ? "calls.notice.cameraRefused" : undefined,
  } as const;
  const group = (kind: "audioinput" | "videoinput", title: TextKey, icon: string) => {
    const matching = devices.filter((device) => device.kind === kind);
    const isAvailable = (id: string | undefined) => matching.some(({ deviceId }) => deviceId === id);
    return (
      <DeviceGroup
        title={title}
        icon={icon}
        devices={matching}
        selected={[selected[kind], findUsedDevice(media.local, kind)].find(isAvailable) ?? matching[0]?.deviceId}
        emptyText={emptyTexts[kind]}
        onChoose={(id) => selectDevice(kind, id)}
      />
    );
  };
  return (
    <Sheet title={t(hasVideo ? "calls.devices.title" : "calls.devices.titleAudio")} onClose={onClose}>
      <div className="min-h-0 flex-1 overflow-y-auto overscroll-contain pb-safe">
        {group("audioinput", "calls.devices.microphone", "i-ph-microphone")}
        {hasVideo && group("videoinput", "calls.devices.camera", "i-ph-video-camera")}
        {audioOutput.outputs.length > 1 && (
          <DeviceGroup
            title="calls.devices.output"
            icon="i-ph-speaker-high"
            devices={[{ deviceId: "", label: t("calls.devices.standard") }, ...audioOutput.outputs]}
            selected={audioOutput.selectedId}
            onChoose={async (id) => setOutputFailed(!(await audioOutput.selectOutput(id)))}
          />
        )}
        {hasOutputFailed && (
          <p role="alert" className="px-4 py-2 text-danger">
            {t("calls.devices.outputFailed")}
          </p>
        )}
      </div>
    </Sheet>
  );
}

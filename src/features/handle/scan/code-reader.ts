/**
 * Reads QR codes from frames of the camera and from pictures. Browsers with the Barcode Detection API read them by
 * themselves; the others load a library (docs/decisions/qr-scanning.md).
 */

type CodeSource = HTMLVideoElement | ImageBitmap;
/** Text of the code in a frame or picture; undefined if there is none. */
export type CodeReader = (source: CodeSource) => Promise<string | undefined>;

// https://wicg.github.io/shape-detection-api/, which the types of browsers do not contain.
type Detector = { detect: (source: CodeSource) => Promise<readonly { rawValue: string }[]> };
type DetectorClass = {
  new (options: { formats: string[] }): Detector;
  getSupportedFormats: () => Promise<string[]>;
};

/** Enough for a code that fills a fifth of a frame, and decoded in some milliseconds on an old phone. */
const maxSidePx = 800;

const getSize = (source: CodeSource): [width: number, height: number] =>
  "videoWidth" in source ? [source.videoWidth, source.videoHeight] : [source.width, source.height];

const createLibraryReader = async (): Promise<CodeReader> => {
  const { decodePixels } = await import("./qr-library.ts");
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  return async (source) => {
    const [width, height] = getSize(source);
    const scale = Math.min(1, maxSidePx / Math.max(width, height));
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    if (!context || canvas.width === 0 || canvas.height === 0) return undefined;
    context.drawImage(source, 0, 0, canvas.width, canvas.height);
    try {
      return decodePixels(context.getImageData(0, 0, canvas.width, canvas.height));
    } catch {
      return undefined; // the library's way of saying that there is no code
    }
  };
};

const findDetector = async (): Promise<Detector | undefined> => {
  const { BarcodeDetector } = globalThis as { BarcodeDetector?: DetectorClass };
  const formats = (await BarcodeDetector?.getSupportedFormats().catch(() => [])) ?? [];
  return BarcodeDetector && formats.includes("qr_code") ? new BarcodeDetector({ formats: ["qr_code"] }) : undefined;
};

/** Throws if the library cannot be loaded. */
export const createCodeReader = async (): Promise<CodeReader> => {
  const detector = await findDetector();
  if (!detector) return createLibraryReader();
  let library: Promise<CodeReader> | undefined;
  return async (source) => {
    if (!library) {
      try {
        return (await detector.detect(source))[0]?.rawValue;
      } catch {
        library = createLibraryReader(); // Android without Google's services has the API and no detector behind it
      }
    }
    return (await library)(source);
  };
};

/** Throws if the file is not a picture or the library cannot be loaded. */
export const readCodeOfFile = async (file: File): Promise<string | undefined> => {
  const [picture, read] = await Promise.all([createImageBitmap(file), createCodeReader()]);
  try {
    return await read(picture);
  } finally {
    picture.close();
  }
};

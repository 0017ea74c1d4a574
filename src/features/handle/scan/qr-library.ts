import decodeQR from "qr/decode.js";

const retryMs = 60; // more than the library's default of one frame: pictures are often blurred

/** Text of a QR code in RGBA pixels. Throws if there is none. */
export const decodePixels = (pixels: ImageData): string => decodeQR(pixels, { timeLimit: retryMs });

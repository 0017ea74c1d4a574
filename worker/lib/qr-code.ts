import { renderSVG } from "uqr";

const quietZoneModules = 4; // ISO/IEC 18004 requires this margin

/** QR code of a text as SVG, without a character that ends a URL, so that it can be part of a data URL. */
export const drawQrCode = (text: string): string =>
  renderSVG(text, { border: quietZoneModules, pixelSize: 1 }).replace("<svg ", '<svg shape-rendering="crispEdges" ');

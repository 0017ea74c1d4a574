import type { Page } from "@playwright/test";

const photoSize = { width: 4_000, height: 3_000 }; // 12 megapixels, as phones take

/**
 * A JPEG like a phone's: light and shade at every scale (each octave half as strong, as in photographs of the world),
 * things with edges, and the grain of a small sensor in every pixel. The same bytes every time.
 */
export async function makePhoto(page: Page): Promise<Buffer> {
  const base64 = await page.evaluate(async ({ width, height }) => {
    let seed = 7;
    const random = () => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return seed / 2 ** 32;
    };
    const contextOf = (canvas: OffscreenCanvas) => {
      const context = canvas.getContext("2d", { willReadFrequently: true });
      if (!context) throw new Error("no canvas");
      context.imageSmoothingQuality = "high";
      return context;
    };
    const photo = new OffscreenCanvas(width, height);
    const context = contextOf(photo);
    const sky = context.createLinearGradient(0, 0, 0, height);
    sky.addColorStop(0, "#7fa8cf");
    sky.addColorStop(0.55, "#cdb79a");
    sky.addColorStop(1, "#4c5a34");
    context.fillStyle = sky;
    context.fillRect(0, 0, width, height);
    for (let i = 0; i < 900; i++) {
      context.fillStyle = `hsl(${20 + random() * 120} ${15 + random() * 40}% ${15 + random() * 60}% / ${0.3 + random() * 0.6})`;
      context.beginPath();
      const size = 8 + random() ** 4 * 500;
      const y = height * (0.35 + random() * 0.65);
      context.ellipse(random() * width, y, size, size * (0.2 + random()), random() * 3, 0, 7);
      context.fill();
    }
    context.globalCompositeOperation = "overlay";
    for (let octave = 3, alpha = 0.5; octave <= 11; octave++, alpha *= 0.8) {
      const [columns, lines] = [2 ** octave, Math.round((2 ** octave * height) / width)];
      const noise = new OffscreenCanvas(columns, lines);
      const pixels = new ImageData(columns, lines);
      for (let i = 0; i < pixels.data.length; i += 4) {
        const light = random() * 255;
        pixels.data.set([light, light * (0.9 + random() * 0.1), light * (0.85 + random() * 0.15), 255], i);
      }
      contextOf(noise).putImageData(pixels, 0, 0);
      context.globalAlpha = alpha;
      context.drawImage(noise, 0, 0, width, height);
    }
    const grain = context.getImageData(0, 0, width, height);
    for (let i = 0; i < grain.data.length; i += 4) {
      const shared = (random() + random() + random() - 1.5) * 9;
      for (let c = 0; c < 3; c++) grain.data[i + c] = (grain.data[i + c] ?? 0) + shared + (random() - 0.5) * 4;
    }
    context.putImageData(grain, 0, 0);
    const blob = await photo.convertToBlob({ type: "image/jpeg", quality: 0.92 });
    const bytes = new Uint8Array(await blob.arrayBuffer());
    let binary = "";
    for (let at = 0; at < bytes.length; at += 32_768) binary += String.fromCharCode(...bytes.subarray(at, at + 32_768));
    return btoa(binary);
  }, photoSize);
  return Buffer.from(base64, "base64");
}

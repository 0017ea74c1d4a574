import { expect, test } from "vitest";
import { describeDevice } from "#worker/auth/sessions/device-name.ts";

const webKit = "AppleWebKit/537.36 (KHTML, like Gecko)";
const iosWebKit = "AppleWebKit/605.1.15 (KHTML, like Gecko)";

test.each([
  ["Chrome · Android", `Mozilla/5.0 (Linux; Android 10; K) ${webKit} Chrome/142.0.0.0 Mobile Safari/537.36`],
  [
    "Chrome · Android",
    `Mozilla/5.0 (Linux; Android 11; TECNO KE5; wv) ${webKit} Version/4.0 Chrome/83.0.4103.106 Mobile Safari/537.36`,
  ],
  [
    "Samsung Internet · Android",
    `Mozilla/5.0 (Linux; Android 10; K) ${webKit} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
  ],
  ["Opera · Android", "Opera/9.80 (Android; Opera Mini/36.2.2254/119.132; U; fr) Presto/2.12.423 Version/12.16"],
  [
    "Opera · Android",
    `Mozilla/5.0 (Linux; Android 10; K) ${webKit} Chrome/128.0.0.0 Mobile Safari/537.36 OPR/83.0.0.0`,
  ],
  ["Opera", "Opera/9.80 (J2ME/MIDP; Opera Mini/7.1.32052/29.3709; U; en) Presto/2.8.119 Version/11.10"],
  ["Firefox · KaiOS", "Mozilla/5.0 (Mobile; Nokia_8110_4G; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.5"],
  ["Firefox · Android", "Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0"],
  ["Firefox · Windows", "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:132.0) Gecko/20100101 Firefox/132.0"],
  [
    "Firefox · iPhone",
    `Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) ${iosWebKit} FxiOS/131.0 Mobile/15E148 Safari/605.1.15`,
  ],
  [
    "Safari · iPhone",
    `Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) ${iosWebKit} Version/17.5 Mobile/15E148 Safari/604.1`,
  ],
  [
    "Chrome · iPhone",
    `Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) ${iosWebKit} CriOS/129.0.6668.46 Mobile/15E148 Safari/604.1`,
  ],
  [
    "Safari · iPad",
    `Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) ${iosWebKit} Version/16.6 Mobile/15E148 Safari/604.1`,
  ],
  ["Safari · macOS", `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${iosWebKit} Version/17.6 Safari/605.1.15`],
  [
    "Edge · Windows",
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webKit} Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0`,
  ],
  [
    "Edge · Android",
    `Mozilla/5.0 (Linux; Android 10; K) ${webKit} Chrome/130.0.0.0 Mobile Safari/537.36 EdgA/130.0.0.0`,
  ],
  [
    "UC Browser · Android",
    `Mozilla/5.0 (Linux; U; Android 9; fr-FR; itel A16) ${webKit} Version/4.0 Chrome/78.0.3904.108 UCBrowser/13.4.0.1306 Mobile Safari/537.36`,
  ],
  [
    "Huawei Browser · Android",
    `Mozilla/5.0 (Linux; Android 10; ELE-L29) ${webKit} Chrome/114.0.5735.196 HuaweiBrowser/15.0.4.312 Mobile Safari/537.36`,
  ],
  ["Phoenix · Android", `Mozilla/5.0 (Linux; Android 10; K) ${webKit} Chrome/120.0.0.0 Mobile Safari/537.36 PHX/15.2`],
  [
    "Android Browser · Android",
    "Mozilla/5.0 (Linux; U; Android 4.0.3; fr-fr; GT-S5570) AppleWebKit/534.30 (KHTML, like Gecko) Version/4.0 Mobile Safari/534.30",
  ],
  ["Chrome · ChromeOS", `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${webKit} Chrome/130.0.0.0 Safari/537.36`],
  ["Chrome · Linux", `Mozilla/5.0 (X11; Linux x86_64) ${webKit} HeadlessChrome/142.0.0.0 Safari/537.36`],
  ["Linux", "Mozilla/5.0 (X11; Linux x86_64)"],
  ["", "curl/8.5.0"],
  ["", "ChromeAndroid<script>alert(1)</script>"],
  ["", ""],
])("a device is named %s if its user agent is %s", (name, userAgent) => {
  expect(describeDevice(userAgent)).toBe(name);
});

test("a long meaningless user agent is parsed quickly", () => {
  const took = [1, 2, 3].map(() => {
    const began = performance.now();
    expect(describeDevice(`Version/${"1".repeat(200_000)}${" Version/1".repeat(20_000)}`)).toBe("");
    return performance.now() - began;
  });
  // The shortest duration is compared, because a busy machine only adds time.
  expect(Math.min(...took)).toBeLessThan(1_000);
});

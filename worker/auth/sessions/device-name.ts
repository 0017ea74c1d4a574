import type { AppContext } from "#worker/lib/http/app.ts";

// The order matters: browsers also name those they are compatible with.
const browsers: readonly [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, "Edge"],
  [/\bOPR\/|\bOpera\b|\bOPiOS\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\bUCBrowser\//, "UC Browser"],
  [/\bHuaweiBrowser\//, "Huawei Browser"],
  [/\bPHX\//, "Phoenix"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\b(Headless)?Chrome\/|\bCriOS\//, "Chrome"],
  [/\bAndroid\b.*\bVersion\/[\d.]+.*\bSafari\//, "Android Browser"],
  [/\bVersion\/[\d.]+.*\bSafari\//, "Safari"],
];
const systems: readonly [RegExp, string][] = [
  [/\bAndroid\b/, "Android"],
  [/\bKAIOS\b/i, "KaiOS"],
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

const userAgentMaxLength = 512; // longer than any real user agent; bounds the cost of the patterns

const findMatchingName = (list: readonly [RegExp, string][], text: string): string | undefined =>
  list.find(([pattern]) => pattern.test(text))?.[1];

/** Readable name of browser and system ("Chrome · Android"); empty if the user agent names neither. */
export const describeDevice = (userAgent: string): string => {
  const text = userAgent.slice(0, userAgentMaxLength);
  return [findMatchingName(browsers, text), findMatchingName(systems, text)]
    .filter((name) => name !== undefined)
    .join(" · ");
};

export const readDeviceName = (c: AppContext): string => describeDevice(c.req.header("user-agent") ?? "");

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { avatarHues, toAvatarPerson, toPersonHue } from "#components/people/avatar-text.ts";
import { root } from "#tests/support/server/state.ts";

const textContrast = 4.5; // WCAG 1.4.3

const css = readFileSync(`${root}/src/app/theme.css`, "utf8");
const [light = "", ...dark] = css.split("color-scheme: dark;");
const read = (part: string, name: string): string => new RegExp(`--${name}: ([^;]+);`).exec(part)?.[1] ?? "";

type Rgb = readonly number[];
const fromHex = (hex: string): Rgb => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255);
const fromHsl = (hue: number, saturation: number, lightness: number): Rgb =>
  [0, 8, 4].map((n) => {
    const k = (n + hue / 30) % 12;
    const chroma = saturation * Math.min(lightness, 1 - lightness);
    return Math.round((lightness - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1))) * 255) / 255;
  });
const luminance = (rgb: Rgb): number => {
  const [r = 0, g = 0, b = 0] = rgb.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a: Rgb, b: Rgb): number => {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
};

test("the name colours in a group are readable on bubble and background, light and dark", () => {
  expect(dark).toHaveLength(2);
  for (const part of [light, ...dark]) {
    const [saturation = 0, lightness = 0] = read(part, "writer")
      .split("% ")
      .map((text) => Number.parseFloat(text) / 100);
    for (const ground of ["surface", "bg"]) {
      for (const hue of avatarHues) {
        const reached = contrast(fromHsl(hue, saturation, lightness), fromHex(read(part, ground)));
        expect(reached, `${hue} on ${ground}`).toBeGreaterThanOrEqual(textContrast);
      }
    }
  }
});

test("the colour of a group stays when the group is renamed, and that of a person follows the name", () => {
  const hueOf = (name: string, id: string) => toPersonHue(toAvatarPerson({ name, picture: null }, id));
  const names = ["Famille", "Chorale", "Marché", "Voisins", "Bureau"];
  expect(new Set(names.map((name) => hueOf(name, "0b1c"))).size).toBe(1);
  expect(new Set(["0b1c", "9f3e", "77aa", "c0de"].map((id) => hueOf("Famille", id))).size).toBeGreaterThan(1);
  const people = names.map((username) => toPersonHue({ username, phone: "", avatar: null }));
  expect(new Set(people).size).toBeGreaterThan(1);
});

test("the initials of every avatar colour are readable", () => {
  const avatar = readFileSync(`${root}/src/components/people/avatar.tsx`, "utf8");
  const [, saturation, lightness] = /hsl\(\$\{toPersonHue\(person\)\} (\d+)% (\d+)%\)/.exec(avatar) ?? [];
  for (const hue of avatarHues) {
    const disc = fromHsl(hue, Number(saturation) / 100, Number(lightness) / 100);
    expect(contrast(disc, [1, 1, 1]), String(hue)).toBeGreaterThanOrEqual(textContrast);
  }
});

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bin, toolEnv } from "#scripts/run.mjs";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { root } from "#tests/support/server/state.ts";

/** Strings that reveal the development mailbox. */
const traces = /dev\/mail|Mails of this machine|LOCAL_MAILBOX|LOCAL_LIMIT_FACTOR|PUSH_RELAY|dev\/clock/;

const textsIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(js|json)$/.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));

/** Built as `npm run deploy` does: scripts/build/build.mjs without `--mailbox`. */
const buildForDeployment = (folder: string): string[] => {
  const env = toolEnv({ LISOLO_MAILBOX: "" });
  execFileSync(join(bin, "vite"), ["build", "--logLevel", "error", "--outDir", folder], {
    cwd: root,
    env,
    stdio: "ignore",
  });
  return textsIn(join(folder, "lisolo"));
};

test("the deployed bundle does not contain the mailbox, which a local server shows", async ({ request }) => {
  expect(readFileSync("scripts/deploy.mjs", "utf8")).not.toMatch(/mailbox/i);
  const folder = join(root, `dist-bundle-${process.pid}.local`);
  try {
    const texts = buildForDeployment(folder);
    expect(texts.length).toBeGreaterThan(1);
    expect(texts.filter((text) => traces.test(text)).map((text) => traces.exec(text)?.[0])).toEqual([]);
    expect(texts.some((text) => text.includes("MAIL_FROM is empty"))).toBe(true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  // The same search finds it in the build that these tests run on.
  expect(textsIn(join(root, "dist", "lisolo")).some((text) => traces.test(text))).toBe(true);
  const page = await request.get("/dev/mail");
  expect(page.headers()["content-type"]).toContain("text/html");
  expect(await page.text()).toContain("Mails of this machine");
});

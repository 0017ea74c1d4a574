import { expect, test } from "vitest";
import { failedShares, shareTargetPath, toSharePath } from "#contract/wire/share-target.ts";
import { site } from "#tests/worker/support/site.ts";

test("content that is shared while no service worker is active leads to a page that says so, and is not read", async () => {
  let pulled = 0;
  const body = new ReadableStream({
    pull(controller) {
      pulled++;
      if (pulled > 100) controller.close();
      else controller.enqueue(new Uint8Array(64 * 1024));
    },
  });
  const response = await site.fetch(`${site.origin}${shareTargetPath}`, {
    method: "POST",
    redirect: "manual",
    headers: { "content-type": "multipart/form-data; boundary=x", origin: "https://elsewhere.example" },
    body,
  });
  expect(response.status).toBe(303);
  expect(response.headers.get("location")).toBe(toSharePath(failedShares.missed));
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(pulled).toBeLessThan(100);
});

test("the address of a share is opened as an ordinary page", async () => {
  const response = await site.fetch(`${site.origin}${toSharePath(failedShares.missed)}`, { redirect: "manual" });
  expect(response.status).not.toBe(303);
});

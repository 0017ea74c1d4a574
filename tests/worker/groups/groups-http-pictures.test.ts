import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { Group } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { avatarMaxBytes } from "#contract/limits/files.ts";
import type { Person } from "#tests/support/people/people.ts";
import { readLog, readRow, waitUntil } from "#tests/worker/support/device.ts";
import { makeFriends, makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";
import { makeJpegWithLocation, makePng, makePngClaiming } from "#tests/worker/support/pictures.ts";
import { drainBucket, site } from "#tests/worker/support/site.ts";
import { callRawWith, overrideMethods } from "#tests/worker/support/wrapped-site.ts";
import { emptyBuckets } from "#worker/lib/limits/rate-limit.ts";
import { readImageHeader } from "#worker/lib/storage/image-header.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

const put = async (by: Person, id: Uuid, body: BodyInit, changed: Parameters<typeof callRawWith>[0] = {}) => {
  const response = await callRawWith(changed, `/api/groups/${id}/picture`, {
    method: "PUT",
    headers: { authorization: `Bearer ${by.token}`, "content-type": "image/png" },
    body,
  });
  return { status: response.status, body: (await response.json()) as Group & { error_code?: string } };
};
const pictureOf = async (by: Person, id: Uuid, size = 512): Promise<Uint8Array<ArrayBuffer>> => {
  const { picture } = (await requestAs<Group>(by, "GET", `/api/groups/${id}`)) as Group;
  const response = await site.fetch(`${site.origin}/api/avatars/${picture}?size=${size}`, {
    headers: { authorization: `Bearer ${by.token}` },
  });
  expect(response.status).toBe(200);
  return new Uint8Array(await response.arrayBuffer());
};
/** Keys of a group's stored pictures. */
const keptOf = async (id: Uuid) => {
  const sizes = await Promise.all(["50", "512"].map((size) => env.AVATARS.list({ prefix: `${size}/${id}` })));
  return sizes.flatMap(({ objects }) => objects.map(({ key }) => key));
};

const encode = async (format: "image/jpeg" | "image/webp") => {
  const stream = new Response(makePng(80, 80)).body as ReadableStream<Uint8Array>;
  return (await env.IMAGES.input(stream).output({ format })).response().arrayBuffer();
};
const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

test("a picture of any format becomes a square without metadata, visible to all members and nobody else", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben] = others;
  if (!ben) throw new Error("too few");
  for (const picture of [
    makePng(300, 200),
    await makeJpegWithLocation(),
    await encode("image/jpeg"),
    await encode("image/webp"),
    gif,
  ]) {
    const { status, body } = await put(owner, id, picture);
    expect(status).toBe(200);
    expect(body.picture).toMatch(new RegExp(`^${id}_\\d{13}_[\\w-]{22}\\.webp$`));
    const large = await pictureOf(ben, id);
    expect(readImageHeader(large)).toEqual({ type: "webp", width: 512, height: 512 });
    expect(readImageHeader(await pictureOf(ben, id, 50))).toEqual({ type: "webp", width: 50, height: 50 });
    for (const trace of ["Exif", "GPS", "Kinshasa", "XMP", "secret place"]) {
      expect(Buffer.from(large).includes(trace)).toBe(false);
    }
    await waitUntil(async () => (await readRow(ben, id)).group?.picture === body.picture);
    // The former picture is deleted, in both sizes.
    expect(await keptOf(id)).toEqual([`50/${body.picture}`, `512/${body.picture}`]);
  }
  const lines = (await readLog(ben, id)).map(({ body }) => body);
  expect(lines.slice(1)).toEqual(Array.from({ length: 5 }, () => ({ type: "event", event: "pictured" })));
});

const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"></svg>';
test("an invalid or too large picture is refused, and the old one remains alone", async () => {
  const { id, owner } = await makeSyncedGroup(2);
  const { body: before } = await put(owner, id, makePng(40, 40));
  const over = new Uint8Array(avatarMaxBytes + 1);
  over.set(makePng(40, 40));
  const notAnImage = { status: 415, body: { error_code: "not_an_image" } };
  const tooLarge = { status: 413, body: { error_code: "file_too_large" } };
  for (const [picture, expected] of [
    [svg, notAnImage],
    ["<!doctype html><script>alert(1)</script>".padEnd(64), notAnImage],
    ["", notAnImage],
    [makePngClaiming(100, 100).slice(0, 60), notAnImage],
    [makePngClaiming(60_000, 60_000), { status: 400, body: { error_code: "image_too_many_pixels" } }],
    [over, tooLarge],
    [new Response(over).body as ReadableStream, tooLarge],
  ] as const) {
    expect(await put(owner, id, picture)).toMatchObject(expected);
  }
  expect(await keptOf(id)).toEqual([`512/${before.picture}`]);
  expect(await requestAs<Group>(owner, "GET", `/api/groups/${id}`)).toEqual(before);
  const exact = new Uint8Array(avatarMaxBytes);
  exact.set(makePng(40, 40));
  expect((await put(owner, id, exact)).status).toBe(200);
});

test("a person who may not set the picture stores nothing by trying", async () => {
  const { id, owner, others } = await makeSyncedGroup(2);
  const [[stranger], [ben]] = [await makeFriends(1), others];
  if (!ben) throw new Error("too few");
  const path = `/api/groups/${id}/picture`;
  expect(await put(ben, id, makePng(40, 40))).toMatchObject({ status: 403, body: { error_code: "not_allowed" } });
  const unknown = { status: 404, body: { error_code: "group_not_found" } };
  expect(await put(stranger, id, makePng(40, 40))).toMatchObject(unknown);
  expect(await requestAs(ben, "DELETE", path)).toBe("not_allowed");
  expect(await requestAs(stranger, "DELETE", path)).toBe("group_not_found");
  await drainBucket("group_picture_by_user", owner.id);
  expect(await put(owner, id, makePng(40, 40))).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
  // Refused between the check and the change: the group was transferred on another device.
  const CONVERSATION = overrideMethods(env.CONVERSATION, { runGroupCommand: async () => ({ error: "not_allowed" }) });
  await env.DB.prepare("DELETE FROM rate_limits").run();
  emptyBuckets.clear();
  expect(await put(owner, id, makePng(40, 40), { CONVERSATION })).toMatchObject({ status: 403 });
  expect(await keptOf(id)).toEqual([]);
  expect((await readLog(owner, id)).length).toBe(1);
});

test("a removed picture, or one of an ended group, is deleted", async () => {
  const { id, owner, others } = await makeSyncedGroup(2);
  const [ben] = others;
  if (!ben) throw new Error("too few");
  await put(owner, id, makePng(40, 40));
  expect(await requestAs(owner, "DELETE", `/api/groups/${id}/picture`)).toMatchObject({ picture: null, roster: 3 });
  expect(await requestAs(owner, "DELETE", `/api/groups/${id}/picture`)).toMatchObject({ picture: null, roster: 3 });
  await expect.poll(() => keptOf(id)).toEqual([]);
  await put(owner, id, makePng(40, 40));
  expect(await requestAs(owner, "DELETE", `/api/groups/${id}/members/${owner.id}`)).toBe(null);
  expect(await keptOf(id)).toHaveLength(1);
  expect(await requestAs(ben, "DELETE", `/api/groups/${id}/members/${ben.id}`)).toBe(null);
  await expect.poll(() => keptOf(id)).toEqual([]);

  const second = await makeSyncedGroup(2);
  await put(second.owner, second.id, makePng(40, 40));
  expect(await requestAs(second.owner, "DELETE", `/api/groups/${second.id}`)).toBe(null);
  await expect.poll(() => keptOf(second.id)).toEqual([]);
});

test("a picture whose answer was lost is shown, and the previous one is deleted", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const { id, owner } = await makeSyncedGroup(2);
  await put(owner, id, makePng(40, 40));
  type Change = ReturnType<typeof getConversationStub>["runGroupCommand"];
  let lost = 0;
  /** The request arrives, and its answer is lost. */
  const losing =
    (times: number): Change =>
    async (...change) => {
      const done = await getConversationStub(env, id).runGroupCommand(...change);
      if (lost++ < times) throw Object.assign(new Error("the way there broke"), { retryable: true });
      return done;
    };
  const once = await put(owner, id, makePng(50, 50), {
    CONVERSATION: overrideMethods(env.CONVERSATION, { runGroupCommand: losing(1) }),
  });
  expect(once.status).toBe(200);
  expect(await keptOf(id)).toEqual([`512/${once.body.picture}`]);
  lost = 0;
  const never = await put(owner, id, makePng(60, 60), {
    CONVERSATION: overrideMethods(env.CONVERSATION, { runGroupCommand: losing(Number.POSITIVE_INFINITY) }),
  });
  expect(never.status).toBe(503);
  const shown = (await requestAs<Group>(owner, "GET", `/api/groups/${id}`)) as Group;
  expect(shown.picture).not.toBe(once.body.picture);
  expect(await keptOf(id)).toContain(`512/${shown.picture}`);
  log.mockRestore();
});

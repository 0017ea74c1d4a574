import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { makeFriends, makeGroup } from "#tests/worker/support/make-group.ts";
import { call, drainBucket } from "#tests/worker/support/site.ts";

/** Limits on groups: nobody creates unlimited ones. */

test("ten groups can be created at once, and then more at the daily rate", async () => {
  const [ana, ben] = await makeFriends(2);
  if (!ben) throw new Error("too few");
  for (let n = 0; n < 10; n++) expect(await makeGroup(ana, `Groupe ${n}`, [ben])).toMatchObject({ count: 2 });
  const body = { id: createUuid(), name: "De trop", members: [ben.id] };
  const refused = await call("POST", "/api/groups", { token: ana.token, body });
  expect(refused).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3_600);
  await drainBucket("group_by_user", ben.id);
  expect(await makeGroup(ben, "Non plus", [ana])).toBe("rate_limited");
});

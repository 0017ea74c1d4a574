import { describe, expect, it } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { listAcceptedRequests, readRequestSnapshot } from "#sync/hooks/notices/use-acceptances.ts";
import type { PersonRow } from "#sync/store/database.ts";
import { getContext } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const makeRow = (username: string, state: PersonRow["state"]): PersonRow => ({
  id: createUuid(),
  username,
  phone: "",
  avatar: null,
  createdAt: 0,
  state,
  requestId: null,
  connectionId: null,
  since: 0,
  blocked: 0,
});

describe("accepted requests", () => {
  it("notify the requester once, but not of refusals, own acceptances or earlier contacts", async () => {
    const { server, amina } = makePair();
    const { store } = getContext(await makeDevice(server, amina).openTab());
    const [accepted, refused, waiting] = [
      makeRow("Accepted", "sent"),
      makeRow("Refused", "sent"),
      makeRow("Waiting", "sent"),
    ];
    const [received, contact] = [makeRow("Received", "received"), makeRow("Contact", "contact")];
    await store.people.bulkPut([accepted, refused, waiting, received, contact]);
    const before = await readRequestSnapshot(store);
    await store.people.bulkPut([
      { ...accepted, state: "contact" },
      { ...refused, state: "none" },
      { ...received, state: "contact" },
    ]);
    const now = await readRequestSnapshot(store);
    expect(listAcceptedRequests(before, now).map(({ username }) => username)).toEqual(["Accepted"]);
    expect(listAcceptedRequests(now, await readRequestSnapshot(store))).toEqual([]);
  });
});

import { expect, it } from "vitest";
import { IceServerProvider } from "#calls/media/ice-servers.ts";
import { StatsReader } from "#calls/quality/stats.ts";
import type { IceServers } from "#contract/calls/ice.ts";

const answerOf = (username: string): IceServers => ({
  ice_servers: [{ urls: ["turn:relay.test"], username, credential: "x" }],
  ttl: 600,
  relays: true,
  hide: false,
});

it("credentials are renewed before they expire, and requested again after a failure", async () => {
  const asked: string[] = [];
  let isAway = false;
  let isWithout = false;
  const servers = new IceServerProvider(async () => {
    asked.push(`${asked.length}`);
    if (isAway) throw new Error("away");
    const answer = answerOf(asked.at(-1) ?? "");
    return isWithout ? { ...answer, ice_servers: [], relays: false } : answer;
  });
  expect(await servers.renewIfDue()).toBe(false); // There are none yet.
  await servers.whenReady();
  const began = performance.now();
  expect(await servers.renewIfDue(began + 400_000)).toBe(false);
  isAway = true;
  expect(await servers.renewIfDue(began + 430_000)).toBe(false);
  expect(await servers.renewIfDue(began + 440_000)).toBe(false);
  expect(asked).toHaveLength(2);
  isAway = false;
  isWithout = true;
  expect(await servers.renewIfDue(began + 461_000)).toBe(false);
  expect(servers.getConfiguration(false, true).iceServers).toMatchObject([{ username: "0" }]);
  isWithout = false;
  expect(await servers.renewIfDue(began + 492_000)).toBe(true);
  expect(servers.getConfiguration(false, true).iceServers).toMatchObject([{ username: "3" }]);
  expect(await servers.renewIfDue()).toBe(false);
  servers.close();
  expect(await servers.renewIfDue(began + 9_000_000)).toBe(false);
});

it.each([
  ["relay", true],
  ["srflx", false],
])("a path by a candidate of this side that is %s: through its relay %s", (candidateType, isRelayed) => {
  const report = [
    { id: "T", type: "transport", selectedCandidatePairId: "P" },
    { id: "P", type: "candidate-pair", localCandidateId: "L", remoteCandidateId: "R" },
    { id: "L", type: "local-candidate", candidateType },
    { id: "R", type: "remote-candidate", candidateType: "relay" },
  ];
  expect(new StatsReader().read(report).isRelayed).toBe(isRelayed);
  expect(new StatsReader().read([]).isRelayed).toBe(false);
});

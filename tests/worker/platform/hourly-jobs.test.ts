import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { makePerson } from "#tests/worker/support/site.ts";
import { overrideMethods } from "#tests/worker/support/wrapped-site.ts";
import { resumeAccountDeletions } from "#worker/account/resume-deletions.ts";
import worker from "#worker/index.ts";

const longAgo = Date.now() - 400 * 86_400_000;

/** Directory that refuses the statements that contain this text. */
const refuseStatements = (text: string) =>
  new Proxy(env.DB, {
    get: (database, name) => {
      if (name !== "prepare") return Reflect.get(database, name).bind(database);
      return (query: string) => {
        if (query.includes(text)) throw new Error("the directory is overloaded");
        return database.prepare(query);
      };
    },
  });

test("an hourly job that fails is logged by its name and ends no other", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const [post, session] = [createUuid(), createUuid()];
  await env.DB.batch([
    env.DB.prepare("INSERT INTO tala_gone (user_id, id, gone_at) VALUES (?, ?, ?)").bind(
      (await makePerson()).id,
      post,
      longAgo,
    ),
    env.DB.prepare("INSERT INTO ended_sessions (id, ended_at, cause) VALUES (?, ?, 'revoked')").bind(session, longAgo),
  ]);
  const countRows = async () => [
    await env.DB.prepare("SELECT count(*) AS n FROM tala_gone WHERE id = ?").bind(post).first("n"),
    await env.DB.prepare("SELECT count(*) AS n FROM ended_sessions WHERE id = ?").bind(session).first("n"),
  ];
  await worker.scheduled(createScheduledController(), { ...env, DB: refuseStatements("tala_gone") });
  expect(await countRows()).toEqual([1, 0]);
  const lines = log.mock.calls.map(([line]) => line);
  expect(lines.filter((line) => /hourly job/.test(line))).toEqual(["the hourly job purgeDeletedPosts failed"]);

  await worker.scheduled(createScheduledController(), env);
  expect(await countRows()).toEqual([0, 0]);
});

test("fifty account deletions that always fail do not keep a later one from being resumed", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const failing = Array.from({ length: 50 }, () => createUuid());
  const later = createUuid();
  const insertDeletion = env.DB.prepare("INSERT INTO deletions (user_id, started_at) VALUES (?, ?)");
  await env.DB.batch([...failing, later].map((user, i) => insertDeletion.bind(user, longAgo + i)));
  const resumed: string[] = [];
  const USER_CHANNEL = overrideMethods(env.USER_CHANNEL, {
    deleteAccount: async (user: string) => {
      if (user === later) resumed.push(user);
      else throw new Error("the object is overloaded");
    },
  });
  const jobEnv = { ...env, USER_CHANNEL } as unknown as Env;
  try {
    // Which of them a run resumes is random: a deletion misses ten runs once in 10^17 times.
    for (let run = 0; run < 10 && resumed.length === 0; run++) await resumeAccountDeletions(jobEnv, Date.now());
    expect(resumed).toEqual([later]);
  } finally {
    await env.DB.prepare("DELETE FROM deletions WHERE started_at BETWEEN ? AND ?")
      .bind(longAgo, longAgo + 50)
      .run();
  }
});

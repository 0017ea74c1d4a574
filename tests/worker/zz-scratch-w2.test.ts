import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { test } from "vitest";

test("scratch", async () => {
  await runInDurableObject(env.CONVERSATION.getByName("scratch"), async (_i, state) => {
    const sql = state.storage.sql;
    sql.exec(
      "CREATE TABLE t (h INTEGER PRIMARY KEY, c TEXT NOT NULL UNIQUE, changed INTEGER NOT NULL, bucket INTEGER NOT NULL, x TEXT)",
    );
    sql.exec("CREATE INDEX tb ON t(bucket)");
    let c = sql.exec("INSERT INTO t VALUES (1,'a',1,0,'x')");
    console.log("insert", c.rowsRead, c.rowsWritten);
    for (let i = 2; i < 1000; i++) sql.exec("INSERT INTO t VALUES (?,?,?,?,'x')", i, `k${i}`, i, Math.floor(i / 8));
    c = sql.exec("UPDATE t SET changed=2, x='y' WHERE h=1");
    c.toArray();
    console.log("update no idx", c.rowsRead, c.rowsWritten);
    c = sql.exec("UPDATE t SET changed=2, bucket=0 WHERE h=1");
    console.log("update idx same", c.rowsRead, c.rowsWritten);
    c = sql.exec("UPDATE t SET changed=2, bucket=1 WHERE h=1");
    console.log("update idx diff", c.rowsRead, c.rowsWritten);
    c = sql.exec("UPDATE t SET changed=2, bucket=1 WHERE c='a'");
    console.log("update by c", c.rowsRead, c.rowsWritten);
    c = sql.exec("SELECT * FROM t WHERE c='a'");
    c.toArray();
    console.log("select by unique", c.rowsRead);
    c = sql.exec("SELECT * FROM t WHERE h=1");
    c.toArray();
    console.log("select by pk", c.rowsRead);
    c = sql.exec("SELECT * FROM t WHERE bucket <= 100 ORDER BY bucket DESC");
    let n = 0;
    for (const _ of c) {
      if (++n === 30) break;
    }
    console.log("lazy 30", n, c.rowsRead);
    c = sql.exec("SELECT * FROM t WHERE bucket <= 100 ORDER BY bucket DESC LIMIT 30");
    c.toArray();
    console.log("limit 30", c.rowsRead);
    c = sql.exec("SELECT * FROM t WHERE h > 100 ORDER BY h LIMIT 30");
    c.toArray();
    console.log("pk limit 30", c.rowsRead);
    c = sql.exec("SELECT max(changed) FROM t");
    c.toArray();
    console.log("max unindexed", c.rowsRead);
    c = sql.exec("SELECT max(bucket) FROM t");
    c.toArray();
    console.log("max bucket", c.rowsRead);
    c = sql.exec("SELECT changed FROM t WHERE bucket=(SELECT max(bucket) FROM t)");
    c.toArray();
    console.log("max changed via bucket", c.rowsRead);
    c = sql.exec("SELECT count(*) FROM t WHERE h > 990");
    c.toArray();
    console.log("count 10", c.rowsRead);
    c = sql.exec("CREATE TABLE w (k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID");
    c = sql.exec("INSERT INTO w VALUES ('a','b')");
    console.log("without rowid insert", c.rowsWritten);
    c = sql.exec(
      "CREATE TABLE m (seq INTEGER PRIMARY KEY, sender INTEGER, cid TEXT, at INTEGER, body TEXT, UNIQUE(sender,cid))",
    );
    c = sql.exec("INSERT INTO m VALUES (1,0,'c',1,'b')");
    console.log("msg insert", c.rowsRead, c.rowsWritten);
    c = sql.exec("INSERT INTO m VALUES (2,0,'c',1,'b') ON CONFLICT DO NOTHING");
    console.log("msg dup", c.rowsRead, c.rowsWritten);
    const t0 = performance.now();
    for (let i = 0; i < 2000; i++) sql.exec("SELECT * FROM t WHERE c=?", `k${i % 1000}`).toArray();
    console.log("select us", (performance.now() - t0) / 2);
    let a = Date.now();
    for (let i = 0; i < 20000; i++) sql.exec("SELECT * FROM t WHERE c=?", `k${i % 1000}`).toArray();
    await scheduler.wait(1);
    console.log("20000 selects ms", Date.now() - a);
    a = Date.now();
    for (let i = 0; i < 20000; i++) sql.exec("UPDATE t SET changed=?, x=? WHERE h=?", i, "yyy", (i % 900) + 2);
    await scheduler.wait(1);
    console.log("20000 updates ms", Date.now() - a);
    console.log("alarm", await state.storage.getAlarm());
  });
});

import { beforeEach, describe, expect, it, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";

const pathIn = ({ url }: { url: string }): string => url.slice(new URL(url).origin.length);

/** Caches like a browser's, shared by all versions of the worker; `room` is how many more entries fit. */
const makeCaches = () => {
  const stores = new Map<string, Map<string, string>>();
  let room = Number.POSITIVE_INFINITY;
  const open = async (name: string) => {
    const entries = stores.get(name) ?? new Map<string, string>();
    stores.set(name, entries);
    return {
      match: async (key: string) => (entries.has(key) ? new Response(entries.get(key)) : undefined),
      put: async (key: string, response: Response) => {
        if (!entries.has(key) && room-- <= 0) throw new DOMException("full", "QuotaExceededError");
        entries.set(key, await response.text());
      },
      delete: async (key: string | { url: string }) => entries.delete(typeof key === "string" ? key : pathIn(key)),
      keys: async () => [...entries.keys()].map((key) => ({ url: `https://lisolo.example${key}` })),
    };
  };
  return {
    open,
    delete: async (name: string) => stores.delete(name),
    keys: (name: string) => [...(stores.get(name)?.keys() ?? [])].sort(),
    limit: (entries: number) => {
      room = entries;
    },
  };
};

let kept: ReturnType<typeof makeCaches>;
let fetched: string[];

beforeEach(() => {
  kept = makeCaches();
  fetched = [];
  vi.stubGlobal("caches", kept);
  vi.stubGlobal("fetch", async (target: string | { url: string }) => {
    const path = typeof target === "string" ? target : new URL(target.url).pathname;
    fetched.push(path);
    return new Response(`content of ${path}`);
  });
});

/** A version of the worker with these files. */
const release = async (...files: string[]) => {
  vi.stubGlobal("__ASSETS__", files);
  vi.resetModules();
  fetched = [];
  return import("#sw/app-cache.ts");
};

const texts = (hash: string) => ["fr", "en", "pt"].map((language) => `/assets/${language}-${hash}.js`);

describe("the service worker", () => {
  it("precaches the app's files and page, but no language before one is used", async () => {
    const first = await release("/assets/app-1.js", "/assets/app-1.css", ...texts("1"));
    await first.installAppShell();
    expect(fetched.sort()).toEqual(["/app", "/assets/app-1.css", "/assets/app-1.js", "/entry/app-template.json"]);
    fetched = [];
    await first.cacheAssets(["/assets/pt-1.js", "/assets/app-1.js", "/assets/somebody-elses.js", "/api/users/me"]);
    expect(fetched).toEqual(["/assets/pt-1.js"]);
  });

  it("stores all texts of a language once a page has loaded some, also one chosen later", async () => {
    const parts = ["fr", "pt", "en"].flatMap((language) =>
      [1, 2, 3].map((part) => `/assets/${language}-part${part}.js`),
    );
    const worker = await release("/assets/app-1.js", ...parts);
    await worker.installAppShell();
    await worker.cacheAssets(["/assets/pt-part2.js"]);
    const ofPortuguese = [1, 2, 3].map((part) => `/assets/pt-part${part}.js`);
    expect(kept.keys("shell").filter((key) => /(fr|en|pt)-/.test(key))).toEqual(ofPortuguese);

    const works: Promise<unknown>[] = [];
    const request = new Request("https://lisolo.example/assets/fr-part1.js");
    await worker.respondWithAsset(request, "/assets/fr-part1.js", (work) => works.push(work));
    await Promise.all(works);
    const ofFrench = [1, 2, 3].map((part) => `/assets/fr-part${part}.js`);
    expect(kept.keys("shell").filter((key) => /(fr|en|pt)-/.test(key))).toEqual([...ofFrench, ...ofPortuguese]);
  });

  it("loads only the changed files of a newer version, including the user's language", async () => {
    const first = await release("/assets/app-1.js", "/assets/react-1.js", ...texts("1"));
    await first.installAppShell();
    await first.cacheAssets(["/assets/pt-1.js"]);
    const second = await release("/assets/app-2.js", "/assets/react-1.js", ...texts("2"));
    await second.installAppShell();
    expect(fetched.sort()).toEqual(["/app", "/assets/app-2.js", "/assets/pt-2.js", "/entry/app-template.json"]);
  });

  it("keeps the previous version for tabs opened with it, and removes older ones", async () => {
    for (const version of ["1", "2", "3"]) {
      const worker = await release(`/assets/app-${version}.js`, "/assets/react-1.js");
      await worker.installAppShell();
      await worker.deleteOldFiles();
    }
    expect(kept.keys("shell").filter((key) => key.startsWith("/assets/"))).toEqual([
      "/assets/app-2.js",
      "/assets/app-3.js",
      "/assets/react-1.js",
    ]);
  });

  it("answers the app's page and files from the cache, and the rest from the network", async () => {
    const worker = await release("/assets/app-1.js");
    await worker.installAppShell();
    fetched = [];
    const page = await worker.respondWithAppPage(new Request("https://lisolo.example/app/chat/1"));
    expect(await page.text()).toBe("content of /app");
    const ask = (path: string) =>
      worker.respondWithAsset(new Request(`https://lisolo.example${path}`), path, () => undefined);
    expect(await (await ask("/assets/app-1.js")).text()).toBe("content of /assets/app-1.js");
    expect(fetched).toEqual([]);
    expect(await (await ask("/assets/app-0.js")).text()).toBe("content of /assets/app-0.js");
    expect(fetched).toEqual(["/assets/app-0.js"]);
  });

  it("does not install without storage room, and the page is then served by the network", async () => {
    kept.limit(1);
    const worker = await release("/assets/app-1.js", "/assets/app-1.css");
    await expect(worker.installAppShell()).rejects.toThrow("no room");
    const page = await worker.respondWithAppPage(new Request("https://lisolo.example/app"));
    expect(await page.text()).toBe("content of /app");
  });

  it("keeps two hundred pictures of people, and evicts the least recently used first", async () => {
    vi.resetModules();
    const { respondWithAvatar: answerAvatar } = await import("#sw/pictures.ts");
    const see = async (n: number) => {
      const works: Promise<unknown>[] = [];
      await answerAvatar(new Request(`https://lisolo.example/api/avatars/${n}`), (work) => works.push(work));
      await Promise.all(works);
    };
    for (let n = 0; n < 200; n++) await see(n);
    // The worker was restarted: it only knows that the first picture was used again.
    vi.resetModules();
    const woken = await import("#sw/pictures.ts");
    const works: Promise<unknown>[] = [];
    const look = (n: number) =>
      woken.respondWithAvatar(new Request(`https://lisolo.example/api/avatars/${n}`), (work) => works.push(work));
    fetched = [];
    await look(0);
    expect(fetched).toEqual([]);
    for (let n = 200; n < 241; n++) {
      await look(n);
      await Promise.all(works);
    }
    const keys = kept.keys("avatars");
    expect(keys.length).toBeLessThanOrEqual(220);
    expect(keys).toContain("/api/avatars/0");
    expect(keys).not.toContain("/api/avatars/1");
    expect(keys).toContain("/api/avatars/240");
  });

  it("keeps small pictures of the newest statuses, whichever was seen last, and no large ones", async () => {
    vi.resetModules();
    const { respondWithPostPicture: answerPostPicture, isPostPicture } = await import("#sw/pictures.ts");
    const idAt = (n: number) => `01900000-0000-7000-8000-${n.toString().padStart(12, "0")}`;
    // The author's id does not determine the time.
    const pathOf = (n: number) => `/api/tala/pictures/${idAt(1_000 - n)}_${idAt(n)}?size=small`;
    const see = async (path: string) => {
      const works: Promise<unknown>[] = [];
      const answer = await answerPostPicture(new Request(`https://lisolo.example${path}`), (work) => works.push(work));
      await Promise.all(works);
      return answer;
    };
    // From the newest down, in reading order.
    for (let n = 300; n > 60; n--) await see(pathOf(n));
    const keys = kept.keys("post-pictures");
    expect(keys.length).toBeLessThanOrEqual(220);
    expect(keys).toEqual(expect.arrayContaining(Array.from({ length: 200 }, (_, index) => pathOf(300 - index))));
    fetched = [];
    await see(pathOf(300));
    expect(fetched).toEqual([]);

    vi.stubGlobal("fetch", async () => new Response("x".repeat(24_001)));
    expect((await (await see(pathOf(301))).text()).length).toBe(24_001);
    vi.stubGlobal("fetch", async () => new Response("gone", { status: 404 }));
    expect((await see(pathOf(302))).status).toBe(404);
    for (const n of [301, 302]) expect(kept.keys("post-pictures")).not.toContain(pathOf(n));

    const isKept = (path: string) => isPostPicture(path.split("?")[0] ?? "", path.slice(path.indexOf("?")));
    expect(isKept(pathOf(1))).toBe(true);
    expect(isKept(pathOf(1).replace("small", "large"))).toBe(false);
    expect(isKept("/api/tala?before=6")).toBe(false);
  });

  it("removes pictures of statuses that are not shown any more, of hidden people, and all at sign-out", async () => {
    vi.resetModules();
    const {
      deleteAllCachedPictures: dropAllPictures,
      deleteCachedAvatars: dropPictures,
      pruneCachedPostPictures: keepPostPictures,
    } = await import("#lib/browser/picture-cache.ts");
    const [ana, ben] = [createUuid(), createUuid()];
    const [first, second] = [createUuid(), createUuid()];
    const pathOf = (author: string, post: string) => `/api/tala/pictures/${author}_${post}?size=small`;
    const put = async (cache: string, key: string) => (await kept.open(cache)).put(key, new Response("picture"));
    let asked = 0;
    const keepOnly = (...posts: string[]) =>
      keepPostPictures(async () => {
        asked++;
        return new Set(posts);
      });
    await keepOnly(first);
    expect(asked).toBe(0);
    for (const post of [first, second]) await put("post-pictures", pathOf(ana, post));
    for (const person of [ana, ben]) await put("avatars", `/api/avatars/${person}_1.webp?size=50`);
    await keepOnly(second, ana);
    expect(kept.keys("post-pictures")).toEqual([pathOf(ana, second)]);
    await dropPictures(new Set([ana]));
    expect(kept.keys("avatars")).toEqual([`/api/avatars/${ben}_1.webp?size=50`]);
    expect(kept.keys("post-pictures")).toEqual([pathOf(ana, second)]);
    await dropAllPictures();
    expect([...kept.keys("avatars"), ...kept.keys("post-pictures")]).toEqual([]);
  });
});

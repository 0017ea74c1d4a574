import * as v from "valibot";
import { packUuid, type Uuid } from "#contract/ids.ts";
import { postPageRows } from "#contract/limits/tala.ts";
import type { Audience } from "#contract/settings/settings.ts";
import { NewPost, type PostPage, type Published } from "#contract/tala.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import type { HttpRequest } from "#contract/wire/http-commands.ts";

export type ModelPost = { number: number; author: Uuid; at: number; arrivals: number; bytes: number } & NewPost;

/** Status feed of the model: a status is published once by its client id, read in pages, and deleted by its author. */
export class ModelTala {
  posts: ModelPost[] = [];
  /** Deleted ids, including those deleted before they arrived. */
  readonly deletedIds = new Set<Uuid>();
  /** Set to have requests refused. */
  refuse: (user: Uuid, request: HttpRequest) => Refusal | undefined = () => undefined;
  /** Set to have an old newest page answered, as from a cache. */
  cachedPage: PostPage | undefined;
  /** Set to have statuses for contacts read by others than their authors. */
  mayRead: (reader: Uuid, author: Uuid) => boolean = () => false;
  #last = 0;
  #lastRestricted = 0;
  readonly #nameOf: (user: Uuid) => string;

  constructor(nameOf: (user: Uuid) => string) {
    this.#nameOf = nameOf;
  }

  /** Texts, oldest first. */
  get texts(): string[] {
    return this.posts.map(({ content }) => content);
  }

  publish(author: Uuid, id: Uuid, content: string, audience: Audience = "everyone"): ModelPost {
    const number = audience === "everyone" ? ++this.#last : Math.max(this.#last, this.#lastRestricted) + 2 ** -19;
    if (audience !== "everyone") this.#lastRestricted = number;
    const post = { id, content, audience, author, number, at: Date.now(), arrivals: 1, bytes: 0 };
    this.posts.push(post);
    return post;
  }

  handle(user: Uuid, request: HttpRequest): Published | PostPage | Refusal | undefined {
    const refusal = this.refuse(user, request);
    if (refusal) return refusal;
    const url = new URL(request.path, "http://model");
    if (request.method === "POST") return this.#store(user, request.body);
    if (request.method === "DELETE") return this.#delete(user, url.pathname.split("/").at(-1) ?? "");
    const before = url.searchParams.get("before");
    return this.page(before === null ? undefined : Number(before), user);
  }

  page(before = Number.POSITIVE_INFINITY, reader?: Uuid): PostPage {
    if (this.cachedPage && before === Number.POSITIVE_INFINITY) return this.cachedPage;
    const inRange = this.posts.filter(({ number }) => number < before).reverse();
    const all = inRange.filter(({ audience }) => audience === "everyone");
    const shown = all.slice(0, postPageRows);
    const next = all.length > shown.length ? (shown.at(-1)?.number ?? null) : null;
    const restricted = inRange.filter(({ author, audience = "everyone", number }) => {
      const isReader = author === reader || (audience === "contacts" && reader && this.mayRead(reader, author));
      return audience !== "everyone" && isReader && number > (next ?? 0);
    });
    const authors = [...new Set([...shown, ...restricted].map(({ author }) => author))];
    const toTuple = ({ number, id, author, at, content, picture }: ModelPost): PostPage["posts"][number] => [
      number,
      packUuid(id),
      authors.indexOf(author),
      at,
      content,
      picture ? [picture.width, picture.height, picture.thumb] : null,
    ];
    return {
      authors: authors.map((author) => [packUuid(author), this.#nameOf(author), null]),
      posts: shown.map(toTuple),
      ...(restricted.length > 0 && {
        restricted: restricted.map((post) => [...toTuple(post), post.audience === "nobody" ? "nobody" : "contacts"]),
      }),
      before: next,
    };
  }

  #store(user: Uuid, body: unknown): Published | Refusal {
    const [post, picture] = body instanceof FormData ? [body.get("post"), body.get("picture")] : [];
    const parsed = v.safeParse(NewPost, typeof post === "string" ? JSON.parse(post) : undefined);
    if (!parsed.success || (parsed.output.picture !== undefined) !== picture instanceof Blob)
      return { error: "invalid_input" };
    const { id, content, audience } = parsed.output;
    if (this.deletedIds.has(id)) return { error: "post_not_found" };
    const known = this.posts.find((other) => other.id === id);
    if (known) known.arrivals++;
    const stored = known ?? this.publish(user, id, content, audience);
    if (!known && picture instanceof Blob)
      Object.assign(stored, { picture: parsed.output.picture, bytes: picture.size });
    return { id, number: stored.number, created_at: stored.at };
  }

  #delete(user: Uuid, id: Uuid): Refusal | undefined {
    const known = this.posts.find((post) => post.id === id);
    if (known && known.author !== user) return { error: "not_your_post" };
    this.deletedIds.add(id);
    this.posts = this.posts.filter((post) => post !== known);
    return undefined;
  }
}

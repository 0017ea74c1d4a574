/** Browser without pages that performs a provider's log-in by hand: it keeps cookies and submits forms. */
export class OAuthBrowser {
  #cookies = new Map<string, Map<string, string>>();

  /** One request; redirects are not followed. */
  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { ...init, redirect: "manual", headers: { ...init.headers, cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Follows redirects until a page, or an address of `origin`, which is not requested. */
  async #follow(url: string, origin: string, init?: RequestInit): Promise<{ url: string; page?: string }> {
    const response = await this.fetch(url, init);
    const location = response.headers.get("location");
    if (location === null) return { url, page: await response.text() };
    const next = new URL(location, url).href;
    return new URL(next).origin === origin ? { url: next } : this.#follow(next, origin);
  }

  /** Logs in at the provider page `url`. Returns the address of `origin` it redirects to. */
  async logIn(url: string, origin: string, login: string): Promise<string> {
    let at = await this.#follow(url, origin);
    while (at.page !== undefined) {
      const prompt = /name="prompt" value="(\w+)"/.exec(at.page)?.[1];
      if (prompt === undefined) throw new Error(`no page of a provider: ${at.page.slice(0, 300)}`);
      const body = new URLSearchParams({ prompt, ...(prompt === "login" ? { login, password: "x" } : {}) });
      at = await this.#follow(at.url, origin, { method: "POST", body });
    }
    return at.url;
  }

  /** Cancels on the provider's page. */
  async cancel(url: string, origin: string): Promise<string> {
    const at = await this.#follow(url, origin);
    const abort = /<a href="([^"]+\/abort)"/.exec(at.page ?? "")?.[1] ?? "";
    return (await this.#follow(new URL(abort, at.url).href, origin)).url;
  }
}

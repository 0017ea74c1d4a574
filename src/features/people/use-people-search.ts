import { useEffect, useEffectEvent, useRef, useState } from "react";
import * as v from "valibot";
import { phoneSearchMinLength } from "#contract/limits/phone-numbers.ts";
import { TypedHandle } from "#contract/names/handles.ts";
import { FoundPerson } from "#contract/people.ts";
import { cleanPhone, toPhoneQuery } from "#contract/phone/phone-text.ts";
import { requestApi } from "#lib/http/api.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { useLinkState } from "#sync/hooks/use-connection.ts";
import { useRetry } from "#sync/hooks/use-retry.ts";

/** Pause in typing before a search starts. Long, because each request costs seconds on a slow network. */
const searchDebounceMs = 600;

export type PeopleSearchState =
  | { status: "idle" }
  | { status: "refused"; code: "query_too_short" | "invalid_handle" }
  | { status: "searching" }
  | { status: "failed"; error: unknown }
  | { status: "found"; people: FoundPerson[]; digits: string | undefined };

/** Search by handle or by digits; undefined while too little is typed. */
type PeopleQuery = { key: string; digits?: string; send: (signal: AbortSignal) => Promise<unknown> };

/** Whether a query is a handle: it begins with "@" or a letter. */
export const isHandleQuery = (query: string): boolean => /^\s*[@\p{L}]/u.test(cleanPhone(query));

const parseQuery = (query: string): PeopleQuery | undefined => {
  if (isHandleQuery(query)) {
    const parsed = v.safeParse(TypedHandle, query);
    if (!parsed.success) return undefined;
    const handle = parsed.output;
    return { key: `@${handle}`, send: (signal) => requestApi("POST", "/api/handles/search", { handle }, { signal }) };
  }
  const digits = toPhoneQuery(query);
  if (digits.length < phoneSearchMinLength) return undefined;
  const send = (signal: AbortSignal) => requestApi("POST", "/api/people/search", { phone: digits }, { signal });
  return { key: digits, digits, send };
};

const FoundPersonList = v.array(FoundPerson);
const idleSearch: PeopleSearchState = { status: "idle" };

/** Search by phone number or handle: after a pause in typing, on submit, and again when the network returns. */
export const usePeopleSearch = () => {
  const [query, setQuery] = useState("");
  const [search, setSearch] = useState<PeopleSearchState>(idleSearch);
  const running = useRef<{ key: string; controller: AbortController }>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  const cancel = () => {
    clearTimeout(timer.current);
    running.current?.controller.abort();
    running.current = undefined;
  };
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      running.current?.controller.abort();
    },
    [],
  );

  const run = async ({ key, digits, send }: PeopleQuery) => {
    if (running.current?.key === key) return;
    cancel();
    const controller = new AbortController();
    running.current = { key, controller };
    setSearch({ status: "searching" });
    try {
      const people = v.parse(FoundPersonList, await send(controller.signal));
      if (!controller.signal.aborted) setSearch({ status: "found", people, digits });
    } catch (error) {
      if (controller.signal.aborted) return;
      running.current = undefined; // allows a retry of the same query
      setSearch({ status: "failed", error });
    }
  };

  const submit = () => {
    clearTimeout(timer.current);
    const parsed = parseQuery(query);
    if (parsed) {
      void run(parsed);
      return;
    }
    cancel();
    setSearch({ status: "refused", code: isHandleQuery(query) ? "invalid_handle" : "query_too_short" });
  };

  const change = (text: string) => {
    setQuery(text);
    clearTimeout(timer.current);
    const parsed = parseQuery(text);
    if (parsed) {
      timer.current = setTimeout(() => void run(parsed), searchDebounceMs);
    } else {
      cancel();
      setSearch(idleSearch);
    }
  };

  const isOffline = search.status === "failed" && toErrorCode(search.error) === "offline";
  const resume = useEffectEvent(() => {
    if (isOffline) submit();
  });
  useEffect(() => {
    const onOnline = () => resume();
    addEventListener("online", onOnline);
    return () => removeEventListener("online", onOnline);
  }, []);
  // The browser's "online" event may precede a working connection.
  const isConnected = useLinkState() === "online";
  useEffect(() => {
    if (isConnected) resume();
  }, [isConnected]);
  useRetry(isOffline ? search : undefined, submit);

  return { query, search, isOffline, change, submit };
};

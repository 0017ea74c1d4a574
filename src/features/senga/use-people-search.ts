import { useEffect, useEffectEvent, useRef, useState } from "react";
import * as v from "valibot";
import { phoneSearchMinLength } from "#contract/limits.ts";
import { FoundPerson } from "#contract/people.ts";
import { toPhoneQuery } from "#contract/phone.ts";
import { requestApi } from "#lib/http/api.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { useLinkState } from "#sync/hooks/use-live-query.ts";
import { useRetry } from "#sync/hooks/use-retry.ts";

/** A pause in typing that means "search now". Long, because on a slow network each request costs seconds. */
const searchDebounceMs = 600;

export type PeopleSearchState =
  | { status: "idle" }
  | { status: "refused" } // too few digits
  | { status: "searching" }
  | { status: "failed"; error: unknown }
  | { status: "found"; people: FoundPerson[]; digits: string };

const FoundPersonList = v.array(FoundPerson);
const idleSearch: PeopleSearchState = { status: "idle" };

/** The search by phone number: after a pause, on submit, and again when the network returns. */
export const usePeopleSearch = () => {
  const [query, setQuery] = useState("");
  const [search, setSearch] = useState<PeopleSearchState>(idleSearch);
  const underway = useRef<{ digits: string; abort: AbortController }>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  const cancel = () => {
    clearTimeout(timer.current);
    underway.current?.abort.abort();
    underway.current = undefined;
  };
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      underway.current?.abort.abort();
    },
    [],
  );

  const run = async (digits: string) => {
    if (underway.current?.digits === digits) return;
    cancel();
    const abort = new AbortController();
    underway.current = { digits, abort };
    setSearch({ status: "searching" });
    try {
      const answer = await requestApi("POST", "/api/people/search", { phone: digits }, { signal: abort.signal });
      const people = v.parse(FoundPersonList, answer);
      if (!abort.signal.aborted) setSearch({ status: "found", people, digits });
    } catch (error) {
      if (abort.signal.aborted) return;
      underway.current = undefined; // the same digits may be asked again
      setSearch({ status: "failed", error });
    }
  };

  const submit = () => {
    clearTimeout(timer.current);
    const digits = toPhoneQuery(query);
    if (digits.length >= phoneSearchMinLength) {
      void run(digits);
      return;
    }
    cancel();
    setSearch({ status: "refused" });
  };

  const change = (text: string) => {
    setQuery(text);
    clearTimeout(timer.current);
    const digits = toPhoneQuery(text);
    if (digits.length >= phoneSearchMinLength) {
      timer.current = setTimeout(() => void run(digits), searchDebounceMs);
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
    const again = () => resume();
    addEventListener("online", again);
    return () => removeEventListener("online", again);
  }, []);
  // The browser may tell of a network that nothing gets through yet.
  const isLinked = useLinkState() === "online";
  useEffect(() => {
    if (isLinked) resume();
  }, [isLinked]);
  useRetry(isOffline ? search : undefined, submit);

  return { query, search, isOffline, change, submit };
};

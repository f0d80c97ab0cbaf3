import type { Candidate } from './candidate.ts';
import { type CandidateList, insertRanked, removeRanked } from './candidate-list.ts';
import { NameIndex } from './name-index.ts';
import type { RoutableRoute, RouteQuery } from './router.ts';
import type { Selection } from './selection.ts';

/** Above this number of different headers, the headers of the request are looked up instead. */
const MANY_HEADERS = 8;

/** Candidates by header name and lower-case value. */
type HeaderLists<R extends RoutableRoute> = Map<string, Map<string, CandidateList<R>>>;

/** The candidates of one host, path and method, found by header value or server name where they require one. */
export class AttributeIndex<R extends RoutableRoute> {
  /** Candidates with neither, or with header patterns only. */
  private open: CandidateList<R> = [];
  private byHeader: HeaderLists<R> | null = null;
  private bySni: NameIndex<CandidateList<R>> | null = null;
  /** All of `bySni`: over plain HTTP the server name does not restrict. */
  private withSni: CandidateList<R> = [];
  private readonly found: CandidateList<R>[] = [];

  /** An index of the same candidates that shares nothing else with this one. */
  copy(): AttributeIndex<R> {
    const copy = new AttributeIndex<R>();
    copy.open = this.open.slice();
    copy.withSni = this.withSni.slice();
    copy.bySni = this.bySni?.copy(0, (list) => list.slice()) ?? null;
    if (this.byHeader !== null) {
      copy.byHeader = new Map();
      for (const [name, lists] of this.byHeader) {
        const copied = new Map<string, CandidateList<R>>();
        for (const [value, list] of lists) copied.set(value, list.slice());
        copy.byHeader.set(name, copied);
      }
    }
    return copy;
  }

  get isEmpty(): boolean {
    return this.open.length === 0 && this.withSni.length === 0 && this.byHeader === null;
  }

  add(candidate: Candidate<R>): void {
    candidate.indexHeader ??= this.chooseHeader(candidate);
    if (candidate.indexHeader !== null) this.addByHeader(candidate, candidate.indexHeader);
    else if (candidate.conditions.snis !== null) this.addBySni(candidate, candidate.conditions.snis);
    else insertRanked(this.open, candidate);
  }

  remove(candidate: Candidate<R>): void {
    if (candidate.indexHeader !== null) this.removeByHeader(candidate, candidate.indexHeader);
    else if (candidate.conditions.snis !== null) this.removeBySni(candidate, candidate.conditions.snis);
    else removeRanked(this.open, candidate);
  }

  select(query: RouteQuery, selection: Selection<R>): void {
    if (this.byHeader !== null) this.selectByHeader(this.byHeader, query, selection);
    if (this.bySni !== null) this.selectBySni(this.bySni, query, selection);
    selection.consider(this.open, query);
  }

  private selectByHeader(index: HeaderLists<R>, query: RouteQuery, selection: Selection<R>): void {
    if (index.size > MANY_HEADERS && query.headerNames !== undefined) {
      for (const name of query.headerNames()) selectByValue(index.get(name), name, query, selection);
    } else {
      for (const [name, lists] of index) selectByValue(lists, name, query, selection);
    }
  }

  private selectBySni(index: NameIndex<CandidateList<R>>, query: RouteQuery, selection: Selection<R>): void {
    if (query.scheme !== 'https') {
      selection.consider(this.withSni, query);
    } else if (query.sni !== '') {
      const count = index.collect(query.sni, this.found);
      for (let i = 0; i < count; i++) selection.consider(this.found[i]!, query);
    }
  }

  /** The header whose values separate the candidate best from the existing ones, or null. */
  private chooseHeader(candidate: Candidate<R>): string | null {
    let chosen: string | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const { name, values, patterns } of candidate.conditions.headers) {
      if (patterns.length > 0) continue;
      const lists = this.byHeader?.get(name);
      let crowd = 0;
      for (const value of values) crowd = Math.max(crowd, lists?.get(value)?.length ?? 0);
      if (crowd >= least) continue;
      chosen = name;
      least = crowd;
    }
    return chosen;
  }

  private addByHeader(candidate: Candidate<R>, name: string): void {
    this.byHeader ??= new Map();
    const lists = this.byHeader.get(name) ?? new Map<string, CandidateList<R>>();
    this.byHeader.set(name, lists);
    for (const value of indexedValues(candidate, name)) {
      const list = lists.get(value) ?? [];
      lists.set(value, list);
      insertRanked(list, candidate);
    }
  }

  private removeByHeader(candidate: Candidate<R>, name: string): void {
    const lists = this.byHeader?.get(name);
    if (lists === undefined) return;
    for (const value of indexedValues(candidate, name)) {
      const list = lists.get(value);
      if (list === undefined) continue;
      removeRanked(list, candidate);
      if (list.length === 0) lists.delete(value);
    }
    if (lists.size === 0) this.byHeader?.delete(name);
    if (this.byHeader?.size === 0) this.byHeader = null;
  }

  private addBySni(candidate: Candidate<R>, snis: readonly string[]): void {
    this.bySni ??= new NameIndex();
    insertRanked(this.withSni, candidate);
    for (const sni of snis) {
      const list = this.bySni.get(sni) ?? [];
      if (list.length === 0) this.bySni.add(sni, list);
      insertRanked(list, candidate);
    }
  }

  private removeBySni(candidate: Candidate<R>, snis: readonly string[]): void {
    removeRanked(this.withSni, candidate);
    for (const sni of snis) {
      const list = this.bySni?.get(sni) ?? [];
      removeRanked(list, candidate);
      if (list.length === 0) this.bySni?.delete(sni);
    }
    if (this.bySni?.isEmpty) this.bySni = null;
  }
}

function indexedValues<R extends RoutableRoute>(candidate: Candidate<R>, name: string): ReadonlySet<string> {
  // Two spellings of one name are two conditions. Either is enough, because the candidate is checked against both.
  return candidate.conditions.headers.find((condition) => condition.name === name && condition.patterns.length === 0)!
    .values;
}

function selectByValue<R extends RoutableRoute>(
  lists: ReadonlyMap<string, CandidateList<R>> | undefined,
  name: string,
  query: RouteQuery,
  selection: Selection<R>,
): void {
  if (lists === undefined) return;
  for (const value of query.headerValues(name)) {
    const list = lists.get(value.toLowerCase());
    if (list !== undefined) selection.consider(list, query);
  }
}

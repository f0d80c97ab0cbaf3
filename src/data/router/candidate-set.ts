import { AttributeIndex } from './attribute-index.ts';
import type { Candidate } from './candidate.ts';
import type { RoutableRoute, RouteQuery } from './router.ts';
import type { Selection } from './selection.ts';

/** The candidates of one host and one path, by method. */
export class CandidateSet<R extends RoutableRoute> {
  /** The edition of the index that may change it. */
  readonly edition: number;
  private anyMethod: AttributeIndex<R> | null = null;
  private byMethod: Map<string, AttributeIndex<R>> | null = null;

  constructor(edition = 0) {
    this.edition = edition;
  }

  /** A set of the same candidates that shares nothing else with this one. */
  copy(edition: number): CandidateSet<R> {
    const copy = new CandidateSet<R>(edition);
    copy.anyMethod = this.anyMethod?.copy() ?? null;
    if (this.byMethod !== null) {
      copy.byMethod = new Map();
      for (const [method, index] of this.byMethod) copy.byMethod.set(method, index.copy());
    }
    return copy;
  }

  get isEmpty(): boolean {
    return this.anyMethod === null && this.byMethod === null;
  }

  add(candidate: Candidate<R>): void {
    const { methods } = candidate.conditions;
    if (methods === null) {
      this.anyMethod ??= new AttributeIndex();
      this.anyMethod.add(candidate);
      return;
    }
    this.byMethod ??= new Map();
    for (const method of methods) {
      const index = this.byMethod.get(method) ?? new AttributeIndex<R>();
      this.byMethod.set(method, index);
      index.add(candidate);
    }
  }

  remove(candidate: Candidate<R>): void {
    const { methods } = candidate.conditions;
    if (methods === null) {
      this.anyMethod?.remove(candidate);
      if (this.anyMethod?.isEmpty) this.anyMethod = null;
      return;
    }
    for (const method of methods) {
      const index = this.byMethod?.get(method);
      index?.remove(candidate);
      if (index?.isEmpty) this.byMethod?.delete(method);
    }
    if (this.byMethod?.size === 0) this.byMethod = null;
  }

  select(query: RouteQuery, selection: Selection<R>): void {
    if (this.byMethod !== null) this.byMethod.get(query.method)?.select(query, selection);
    if (this.anyMethod !== null) this.anyMethod.select(query, selection);
  }
}

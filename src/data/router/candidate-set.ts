import { AttributeIndex } from './attribute-index.ts';
import type { Candidate } from './candidate.ts';
import type { RoutableRoute, RouteQuery } from './router.ts';
import type { Selection } from './selection.ts';

/** The candidates of one host and one path, by method. */
export class CandidateSet<R extends RoutableRoute> {
  private anyMethod: AttributeIndex<R> | null = null;
  private byMethod: Map<string, AttributeIndex<R>> | null = null;

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

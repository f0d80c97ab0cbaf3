import type { Entry } from './entry.ts';
import type { Pace } from './pace.ts';

/** Finds the entities of a document that references mean. */
export interface DeclaredIndex {
  /** By the value of the endpoint key, where that is unique, or by id. */
  find(entity: string, reference: string): Entry | null;
  /** Once the entries have ids. */
  add(entity: string, entries: readonly Entry[], pace: Pace): Promise<void>;
}

export function createDeclaredIndex(): DeclaredIndex {
  const keys = new Map<string, Map<string, Entry>>();
  const ids = new Map<string, Map<string, Entry>>();
  return {
    find: (entity, reference) =>
      keys.get(entity)?.get(reference) ?? ids.get(entity)?.get(reference.toLowerCase()) ?? null,
    async add(entity, entries, pace) {
      const byKey = new Map<string, Entry>();
      const byId = new Map<string, Entry>();
      for (const entry of entries) {
        const wait = pace();
        if (wait !== null) await wait;
        const { endpointKey, unique } = entry.definition;
        const key = endpointKey !== null && unique.includes(endpointKey) ? entry.input[endpointKey] : null;
        if (typeof key === 'string' && !byKey.has(key)) byKey.set(key, entry);
        if (!byId.has(entry.id)) byId.set(entry.id, entry);
      }
      keys.set(entity, byKey);
      ids.set(entity, byId);
    },
  };
}

/** What `resolveReferences` found wrong with an entry. */
export interface UnresolvedFields {
  /** Fields that are not what a reference must be. */
  readonly wrong: Record<string, string>;
  /** References that nothing in the document fits. */
  readonly missing: Record<string, string>;
}

/** Sets the `references` of the entry. Null: nothing is wrong. `deck`: the document is a file of decK. */
export function resolveReferences(entry: Entry, index: DeclaredIndex, deck: boolean): UnresolvedFields | null {
  const { definition, input, parent, parentField, references } = entry;
  const wrong: Record<string, string> = {};
  const missing: Record<string, string> = {};
  for (const [field, { entity }] of Object.entries(definition.foreign)) {
    const value = input[field];
    if (parent !== null && parentField === field) references[field] = parent.id;
    if (value === undefined || value === null) continue;
    if (parent !== null && (!deck || parentField === field)) wrong[field] = 'value must be null';
    else if (typeof value !== 'string') wrong[field] = 'expected a string';
    else {
      const referenced = index.find(entity, value);
      if (referenced !== null) references[field] = referenced.id;
      else missing[field] = `invalid reference '${field}: ${value}' (no such entry in '${entity}')`;
    }
  }
  const isClean = Object.keys(wrong).length === 0 && Object.keys(missing).length === 0;
  return isClean ? null : { wrong, missing };
}

import type { EntityDefinition } from '../../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';

export interface NestedList {
  readonly definition: EntityDefinition;
  /** The foreign field of the nested entity. */
  readonly field: string;
}

/** What a document may contain: entities by schema name, at the top level and in other entities. */
export interface Nesting {
  /** In an order in which what is referred to comes first. */
  readonly definitions: readonly EntityDefinition[];
  byName(name: string): EntityDefinition | undefined;
  /** The lists that an entity may contain, by key. */
  listsIn(entity: string): ReadonlyMap<string, NestedList>;
}

const none: ReadonlyMap<string, NestedList> = new Map();

export function nestingOf(registry: EntityRegistry): Nesting {
  const definitions = registry.definitions.filter(({ inConfig }) => inConfig);
  const names = new Map(definitions.map((definition) => [definition.name, definition]));
  const lists = new Map<string, Map<string, NestedList>>();
  for (const definition of definitions) {
    for (const [field, { entity }] of Object.entries(definition.foreign)) {
      const parent = names.get(entity);
      if (parent === undefined || !mayContain(parent, definition)) continue;
      let inParent = lists.get(entity);
      if (inParent === undefined) {
        inParent = new Map();
        lists.set(entity, inParent);
      }
      if (!inParent.has(definition.name)) inParent.set(definition.name, { definition, field });
    }
  }
  return {
    definitions,
    byName: (name) => names.get(name),
    listsIn: (entity) => lists.get(entity) ?? none,
  };
}

/** A field of the parent takes precedence over a list; the virtual one of certificates is the list of their SNIs. */
function mayContain(parent: EntityDefinition, child: EntityDefinition): boolean {
  const field = parent.schema.fields.get(child.name);
  return field === undefined || field.meta.virtual === true;
}

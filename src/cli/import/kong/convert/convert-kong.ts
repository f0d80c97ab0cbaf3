import type { EntityRegistry } from '../../../../shared/entities/registry.ts';
import { type KongEntity, type KongSource, references, referencesTo, type UnreadPart } from '../kong-entity.ts';
import { convertEntity } from './convert-entity.ts';
import { findProblems } from './find-problems.ts';
import { choicesOf, type LeftOut } from './left-out.ts';
import { isHarmless, unsupported } from './unsupported.ts';
import { vaultReferences } from './vault-references.ts';
import type { WithoutList } from './without-list.ts';

export interface ConvertOptions {
  /** Of a gateway with all bundled plugins. */
  readonly entities: EntityRegistry;
  /** Plugins of the gateway that is written to. Those that are not bundled are not checked here. */
  readonly plugins: ReadonlySet<string>;
  readonly without: WithoutList;
}

export interface Conversion {
  /** Valid, and complete: each refers only to others of the list. */
  readonly entities: readonly KongEntity[];
  readonly leftOut: readonly LeftOut[];
}

/** What the gateway can have of a Kong, and everything that it cannot have. */
export async function convertKong(source: KongSource, options: ConvertOptions): Promise<Conversion> {
  const { entities: registry, plugins, without } = options;
  const collections = new Set(registry.definitions.filter(({ inConfig }) => inConfig).map(({ name }) => name));
  const withIds = new Set(consumersWithIds(source).flatMap(referencesTo));
  const context = {
    entities: registry,
    without,
    hashedPasswords: source.hashedPasswords,
    hasKongId: (consumer: string) => withIds.has(consumer),
  };
  const leftOut: LeftOut[] = source.unread.map((part) => unreadLoss(part, without));
  const lost: KongEntity[] = [];
  let kept: KongEntity[] = [];
  for (const entity of source.entities) {
    const reason = unsupported(entity, plugins, collections, without);
    const converted = reason === null ? convertEntity(entity, context) : { entity: null, lost: [reason] };
    leftOut.push(...converted.lost);
    if (converted.entity === null) lost.push(entity);
    else kept.push(converted.entity);
  }
  let problems: ReadonlyMap<KongEntity, string>;
  do {
    kept = withoutOrphans(kept, lost, leftOut);
    problems = await findProblems(source.format, kept, registry);
    for (const [entity, why] of problems) {
      const todo = 'correct it in Kong or in the file, or leave it out';
      leftOut.push({ what: entity.label, why, todo, choices: choicesOf(entity), accepted: false });
      lost.push(entity);
    }
    const wrong = problems;
    kept = kept.filter((entity) => !wrong.has(entity));
  } while (problems.size > 0);
  leftOut.push(...kept.flatMap(vaultReferences));
  return { entities: kept, leftOut };
}

/** Without its memberships, a consumer that a group denies would pass. */
function unreadLoss({ what, why, todo, collection }: UnreadPart, without: WithoutList): LeftOut {
  const choices = collection === null || isHarmless(collection) ? [] : [collection];
  return { what, why, todo, choices, accepted: choices.every((choice) => without.has(choice)) };
}

/** In a file an id is also made for a consumer that has none, so only those of the source count. */
function consumersWithIds(source: KongSource): readonly KongEntity[] {
  return source.entities.filter(
    ({ collection, fields }) =>
      collection === 'consumers' && typeof fields['id'] === 'string' && !isDerived(fields['id']),
  );
}

/** Version 8: see `derivedId`. */
function isDerived(id: string): boolean {
  return id[14] === '8';
}

/** Without the entities that refer to one that is left out: a route without its service would be another route. */
function withoutOrphans(
  entities: readonly KongEntity[],
  lost: readonly KongEntity[],
  leftOut: LeftOut[],
): KongEntity[] {
  const missing = new Map(lost.flatMap((entity) => keysOf(entity).map((key) => [key, entity] as const)));
  let kept = [...entities];
  for (;;) {
    const orphans = kept.filter((entity) => parentsOf(entity).some((key) => missing.has(key)));
    if (orphans.length === 0) return kept;
    const gone = new Set(orphans);
    for (const entity of orphans) {
      const parent = missing.get(parentsOf(entity).find((key) => missing.has(key)) ?? '');
      const why = parent === undefined ? 'what it refers to is left out' : `its ${parent.label} is left out`;
      leftOut.push({ what: entity.label, why, todo: 'see there', choices: [], accepted: true });
      for (const key of keysOf(entity)) missing.set(key, entity);
    }
    kept = kept.filter((entity) => !gone.has(entity));
  }
}

function keysOf(entity: KongEntity): readonly string[] {
  return referencesTo(entity).map((name) => `${entity.collection} ${name}`);
}

function parentsOf({ collection, fields }: KongEntity): readonly string[] {
  return Object.entries(references).flatMap(([field, parent]) => {
    const value = fields[field];
    return typeof value === 'string' && collection !== parent ? [`${parent} ${value}`] : [];
  });
}

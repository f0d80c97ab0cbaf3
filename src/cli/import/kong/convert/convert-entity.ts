import type { EntityRegistry } from '../../../../shared/entities/registry.ts';
import { type Fields, isFields, type KongEntity, references } from '../kong-entity.ts';
import { dropUnknownFields } from './drop-unknown-fields.ts';
import type { LeftOut } from './left-out.ts';
import type { WithoutList } from './without-list.ts';

export interface ConvertContext {
  readonly entities: EntityRegistry;
  readonly without: WithoutList;
  /** See `KongSource`. */
  readonly hashedPasswords: boolean;
  /** Whether the consumer, by id or username, has the id that it had in Kong. */
  readonly hasKongId: (consumer: string) => boolean;
}

export interface Converted {
  /** Null: the gateway cannot have it. */
  readonly entity: KongEntity | null;
  readonly lost: readonly LeftOut[];
}

/** SHA-1 of a password and the id of its consumer. */
const kongPassword = /^[0-9a-f]{40}$/;

/** What the gateway stores for an entity of Kong. */
export function convertEntity(entity: KongEntity, context: ConvertContext): Converted {
  const definition = context.entities.byName(entity.collection);
  if (definition === undefined) return { entity, lost: [] };
  const owner = entity.collection === 'plugins' ? String(entity.fields['name']) : entity.collection;
  const shortPath = (path: string): string => `${owner}.${path.replace(/^config\./, '')}`;
  const { fields, unknown } = dropUnknownFields(entity, definition, (path) => context.without.has(shortPath(path)));
  const lost = [...new Set(unknown)].map(
    (path): LeftOut => ({
      what: `field ${path} of ${entity.label}`,
      why: 'the gateway has no such field',
      todo: 'check that you do not need what it does, or leave it out',
      choices: [shortPath(path)],
      accepted: false,
    }),
  );
  const known = { ...entity, fields: withoutNullReferences(fields) };
  if (known.collection === 'basicauth_credentials') {
    const problem = hashProblem(known, context);
    return problem === null
      ? { entity: withMarkedHash(known, context), lost }
      : { entity: null, lost: [...lost, problem] };
  }
  return { entity: known.collection === 'plugins' ? converted(known) : known, lost };
}

/** A reference to nothing is written as a missing one. */
function withoutNullReferences(fields: Fields): Fields {
  const entries = Object.entries(fields);
  return Object.fromEntries(entries.filter(([name, value]) => value !== null || !Object.hasOwn(references, name)));
}

function withMarkedHash(entity: KongEntity, { hashedPasswords }: ConvertContext): KongEntity {
  const { password } = entity.fields;
  if (!hashedPasswords || typeof password !== 'string' || !kongPassword.test(password)) return entity;
  return { ...entity, fields: { ...entity.fields, password: `$kong-sha1$${password}` } };
}

function hashProblem(entity: KongEntity, { hashedPasswords, hasKongId }: ConvertContext): LeftOut | null {
  const { password, consumer } = entity.fields;
  if (!hashedPasswords || typeof password !== 'string' || !kongPassword.test(password)) return null;
  if (typeof consumer === 'string' && hasKongId(consumer)) return null;
  return {
    what: entity.label,
    why: "Kong's hash of the password contains the id of the consumer, which the file does not have",
    todo: 'dump with --with-id, or import from the Admin API with --admin-url',
    choices: ['basicauth_credentials'],
    accepted: false,
  };
}

function converted(entity: KongEntity): KongEntity {
  const { name, config } = entity.fields;
  if (name !== 'acme' || !isFields(config)) return entity;
  const { account_key: _, ...rest } = config;
  return { ...entity, fields: { ...entity.fields, config: { ...rest, storage: 'kong' } } };
}

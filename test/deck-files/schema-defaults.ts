import type { TestGateway } from '../support/gateway.ts';
import { type Fields, isFields, type ModelEntity } from './deck-model.ts';

type Schema = Readonly<Record<string, unknown>> & { readonly fields?: readonly Readonly<Record<string, Schema>>[] };

/** Fills in the defaults that the schemas of the Admin API have, as decK does. */
export class SchemaDefaults {
  readonly #gateway: TestGateway;
  readonly #schemas = new Map<string, Promise<Schema>>();

  constructor(gateway: TestGateway) {
    this.#gateway = gateway;
  }

  async fill({ collection, fields }: ModelEntity): Promise<Fields> {
    if (collection !== 'plugins') return filled(await this.#read(collection), fields);
    const schema = await this.#read(`plugins/${String(fields['name'])}`);
    const entity = { enabled: true, protocols: membersOf(schema).get('protocols')?.['default'], ...fields };
    const config = membersOf(schema).get('config') ?? {};
    return { ...entity, config: filled(config, isFields(fields['config']) ? fields['config'] : {}) };
  }

  /** Names of values that the gateway makes when they are missing; of a plugin, of its configuration. */
  async generated({ collection, fields }: ModelEntity): Promise<ReadonlySet<string>> {
    const schema = await this.#read(collection === 'plugins' ? `plugins/${String(fields['name'])}` : collection);
    const members = membersOf(collection === 'plugins' ? (membersOf(schema).get('config') ?? {}) : schema);
    return new Set([
      'cert_digest',
      ...[...members].filter(([, field]) => field['auto'] === true).map(([name]) => name),
    ]);
  }

  #read(path: string): Promise<Schema> {
    const known = this.#schemas.get(path);
    if (known !== undefined) return known;
    const reading = this.#gateway.admin('GET', `/schemas/${path}`).then(({ body }) => body as Schema);
    this.#schemas.set(path, reading);
    return reading;
  }
}

function membersOf(schema: Schema): ReadonlyMap<string, Schema> {
  return new Map((schema.fields ?? []).flatMap((one) => Object.entries(one)));
}

function filled(schema: Schema, given: Fields): Fields {
  const output: Record<string, unknown> = { ...given };
  const shorthands = ((schema['shorthand_fields'] ?? []) as readonly Fields[]).flatMap((one) => Object.keys(one));
  for (const name of shorthands) delete output[name];
  const own = schema['default'];
  for (const [name, field] of membersOf(schema)) {
    const value = given[name];
    const elements = field['elements'] as Schema | undefined;
    if (field['type'] === 'record' && (isFields(value) || (value == null && field['required'] === true))) {
      output[name] = filled(field, isFields(value) ? value : {});
    } else if (Array.isArray(value) && elements?.['type'] === 'record') {
      output[name] = value.map((one: unknown) => (isFields(one) ? filled(elements, one) : one));
    } else if (!Object.hasOwn(given, name)) {
      output[name] = (isFields(own) && Object.hasOwn(own, name) ? own[name] : field['default']) ?? null;
    }
  }
  return output;
}

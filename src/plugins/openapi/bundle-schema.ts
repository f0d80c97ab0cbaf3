import { isJsonObject, type JsonObject, type JsonValue } from '../../plugin-sdk/index.ts';
import {
  checkSchema,
  type Dialect,
  type PreparedSchema,
  prepareSchema,
  SchemaError,
} from '../../plugin-sdk/json-schema/index.ts';
import { type Located, lookUp, resolved } from './references.ts';

/** Which way a value goes decides about `readOnly` and `writeOnly`. */
export type Direction = 'request' | 'response';

const mostDefinitions = 2_000;

/** A schema of the document with all that it refers to, on its own. Throws a `SchemaError` with the place in the document. */
export class SchemaBundler {
  readonly #document: JsonObject;
  readonly #dialect: Dialect;

  /** Where the schema of schemas expects other schemas. */
  readonly #home: '$defs' | 'definitions';

  constructor(document: JsonObject) {
    this.#document = document;
    this.#dialect = String(document['openapi']).startsWith('3.1') ? 'openapi-3.1' : 'openapi-3.0';
    this.#home = this.#dialect === 'openapi-3.1' ? '$defs' : 'definitions';
  }

  bundle(schema: Located, direction: Direction): PreparedSchema {
    return this.#bundle(schema, direction).prepared;
  }

  /** The same, refused when the schema of schemas does not allow it. For the control plane. */
  checked(schema: Located, direction: Direction): PreparedSchema {
    const { prepared, places } = this.#bundle(schema, direction);
    try {
      checkSchema(prepared);
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error;
      const [, at = '', rest = ''] = /^\/(?:\$defs|definitions)\/(\d+)(.*)$/s.exec(error.pointer) ?? [];
      throw new SchemaError((places[Number(at)] ?? schema.pointer) + rest, error.reason);
    }
    return prepared;
  }

  #bundle(
    schema: Located,
    direction: Direction,
  ): { readonly prepared: PreparedSchema; readonly places: readonly string[] } {
    const places: string[] = [schema.pointer];
    const waiting: Located[] = [schema];
    const definitions: JsonObject = {};
    const rewriteRef = (ref: string, pointer: string): string => {
      const target = lookUp(this.#document, ref, pointer);
      let at = places.indexOf(target.pointer);
      if (at < 0) {
        at = places.push(target.pointer) - 1;
        waiting.push(target);
        if (at >= mostDefinitions)
          throw new SchemaError(pointer, `the schema refers to more than ${mostDefinitions} others`);
      }
      return `#/${this.#home}/${at}`;
    };
    const options = { dialect: this.#dialect, rewriteRef, mayMiss: (one: JsonValue) => this.#mayMiss(one, direction) };
    let core: PreparedSchema['core'] = 'draft-07';
    for (let at = 0; at < waiting.length; at++) {
      const { value, pointer } = waiting[at] as Located;
      const prepared = prepareSchema(value, { ...options, pointer });
      definitions[String(at)] = prepared.schema;
      core = prepared.core;
    }
    return { prepared: { core, schema: { $ref: `#/${this.#home}/0`, [this.#home]: definitions } }, places };
  }

  /** A client need not send what only the backend sets, and the other way. */
  #mayMiss(member: JsonValue, direction: Direction): boolean {
    if (!isJsonObject(member)) return false;
    const { value } = resolved(this.#document, { value: member, pointer: '' });
    return value[direction === 'request' ? 'readOnly' : 'writeOnly'] === true;
  }
}

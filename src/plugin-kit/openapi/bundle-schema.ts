import { isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import {
  checkSchema,
  compileSchema,
  type Dialect,
  type PreparedSchema,
  prepareSchema,
  type SchemaCheck,
  SchemaError,
  SchemaSet,
} from '../json-schema/index.ts';
import { type Located, lookUp, resolved } from './references.ts';

/** Direction of a value, for `readOnly` and `writeOnly`. */
export type Direction = 'request' | 'response';

/** A schema of the document, bundled with all schemas that it refers to, and compiled. */
export interface Bundle {
  readonly prepared: PreparedSchema;
  readonly check: SchemaCheck;
}

interface Definition {
  readonly place: Located;
  /** Null: not prepared yet. */
  schema: PreparedSchema['schema'] | null;
  /** Uses keywords that count across references, which a `SchemaSet` does not support. */
  isWhole: boolean;
  /** Names of the schemas that it refers to. */
  readonly references: Set<string>;
}

/** The schemas of a document for one direction. Shared schemas are prepared and compiled once. */
export class SchemaBundler {
  readonly #document: JsonObject;
  readonly #direction: Direction;
  readonly #dialect: Dialect;
  /** Keywords that contain schemas. */
  readonly #home: '#/$defs/' | '#/definitions/';
  readonly #names = new Map<string, string>();
  readonly #definitions = new Map<string, Definition>();
  readonly #set: SchemaSet;
  readonly #checked = new Set<string>();

  constructor(document: JsonObject, direction: Direction) {
    this.#document = document;
    this.#direction = direction;
    this.#dialect = String(document['openapi']).startsWith('3.1') ? 'openapi-3.1' : 'openapi-3.0';
    this.#home = this.#dialect === 'openapi-3.1' ? '#/$defs/' : '#/definitions/';
    this.#set = new SchemaSet(this.#core, (name) => this.#schema(name));
  }

  /** Throws a `SchemaError` with the location in the document. */
  bundle(place: Located): Bundle {
    const name = this.#nameOf(place);
    const definitions: JsonObject = {};
    const home = this.#home.slice(2, -1);
    let isOwn = true;
    for (const one of this.#reachable(name)) {
      const schema = this.#schema(one);
      definitions[one.slice(this.#home.length)] = schema;
      isOwn &&= !(this.#definitions.get(one) as Definition).isWhole;
    }
    const prepared = { core: this.#core, schema: { $ref: name, [home]: definitions } };
    return { prepared, check: isOwn ? this.#set.check(name) : compileSchema(prepared) };
  }

  /** The same, but also checked against the meta-schema. For the control plane. */
  checked(place: Located): Bundle {
    for (const name of this.#reachable(this.#nameOf(place))) {
      if (this.#checked.has(name)) continue;
      this.#checked.add(name);
      const { pointer } = (this.#definitions.get(name) as Definition).place;
      try {
        checkSchema({ core: this.#core, schema: this.#schema(name) });
        this.#set.compile(name);
      } catch (error) {
        throw error instanceof SchemaError ? new SchemaError(pointer + error.pointer, error.reason) : error;
      }
    }
    return this.bundle(place);
  }

  get #core(): PreparedSchema['core'] {
    return this.#dialect === 'openapi-3.1' ? '2020-12' : 'draft-07';
  }

  #nameOf(place: Located): string {
    const known = this.#names.get(place.pointer);
    if (known !== undefined) return known;
    const name = `${this.#home}${this.#names.size}`;
    this.#names.set(place.pointer, name);
    this.#definitions.set(name, { place, schema: null, isWhole: false, references: new Set() });
    return name;
  }

  #schema(name: string): PreparedSchema['schema'] {
    const definition = this.#definitions.get(name) as Definition;
    if (definition.schema !== null) return definition.schema;
    const { value, pointer } = definition.place;
    const rewriteRef = (ref: string, at: string): string => {
      const target = this.#nameOf(lookUp(this.#document, ref, at));
      definition.references.add(target);
      return target;
    };
    const mayMiss = (member: JsonValue): boolean => this.#mayMiss(member);
    definition.schema = prepareSchema(value, { dialect: this.#dialect, pointer, rewriteRef, mayMiss }).schema;
    definition.isWhole = JSON.stringify(definition.schema).includes('"unevaluated');
    return definition.schema;
  }

  /** The schema of this name and all schemas that it refers to. */
  #reachable(name: string): ReadonlySet<string> {
    const found = new Set([name]);
    for (const one of found) {
      this.#schema(one);
      for (const reference of (this.#definitions.get(one) as Definition).references) found.add(reference);
    }
    return found;
  }

  /** Clients need not send read-only members, nor backends write-only ones. */
  #mayMiss(member: JsonValue): boolean {
    if (!isJsonObject(member)) return false;
    const { value } = resolved(this.#document, { value: member, pointer: '' });
    return value[this.#direction === 'request' ? 'readOnly' : 'writeOnly'] === true;
  }
}

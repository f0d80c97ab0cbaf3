import { compileRegex } from '../../shared/util/linear-regex.ts';
import { isJsonObject, type JsonObject, type JsonValue, setMember } from '../json/json.ts';
import { annotations, type CoreDialect, coreDialect, type Dialect, isKeyword, schemaPlaces } from './dialect.ts';
import { isKnownFormat } from './formats.ts';
import { pointerStep, SchemaError } from './schema-error.ts';

/** A schema in the form that the validator takes; can be copied between threads. */
export interface PreparedSchema {
  readonly core: CoreDialect;
  readonly schema: JsonObject | boolean;
}

export interface PrepareOptions {
  readonly dialect: Dialect;
  /** Location of the schema in its document, for messages. Default: ''. */
  readonly pointer?: string;
  /** Returns the replacement of a `$ref`, or throws a `SchemaError`. Default: `$ref` stays. */
  readonly rewriteRef?: (ref: string, pointer: string) => string;
  /** Members that may be missing although `required` names them. Default: none. */
  readonly mayMiss?: (schema: JsonValue) => boolean;
}

const maxSchemas = 20_000;
const maxLevels = 100;
/** The keyword that counts steps; see `keywords.ts`. */
export const stepKeyword = 'sluicegate-step';

/**
 * Checks a schema and rewrites it: older drafts and OpenAPI 3.0 as draft-07, without annotations, with a count of the references that
 * are followed. Throws a `SchemaError` for unknown keywords: they would allow anything.
 */
export function prepareSchema(schema: JsonValue, options: PrepareOptions): PreparedSchema {
  const prepared = new Preparation(options).schema(schema, options.pointer ?? '', 0);
  return { core: coreDialect(options.dialect), schema: prepared };
}

class Preparation {
  readonly #options: PrepareOptions;
  readonly #dialect: Dialect;
  #count = 0;

  constructor(options: PrepareOptions) {
    this.#options = options;
    this.#dialect = options.dialect;
  }

  schema(schema: JsonValue, pointer: string, level: number): JsonObject | boolean {
    if (typeof schema === 'boolean' && this.#dialect !== 'draft-04') return schema;
    if (!isJsonObject(schema)) throw new SchemaError(pointer, 'a schema must be an object');
    if (++this.#count > maxSchemas) throw new SchemaError(pointer, `more than ${maxSchemas} schemas`);
    if (level > maxLevels) throw new SchemaError(pointer, `schemas nested deeper than ${maxLevels} levels`);
    const out: JsonObject = {};
    for (const [name, value] of Object.entries(schema)) {
      if (name.startsWith('x-')) continue;
      const at = pointer + pointerStep(name);
      if (!isKeyword(name, this.#dialect)) throw new SchemaError(at, 'there is no such keyword');
      if (!annotations.has(name)) this.#keyword(out, name, value, at, level);
    }
    if (this.#isOld) exclusiveBounds(out);
    if (this.#dialect === 'openapi-3.0') nullable(out, schema);
    if (this.#options.mayMiss !== undefined) this.#relaxRequired(out, schema);
    if ('$ref' in out || '$dynamicRef' in out || '$recursiveRef' in out) out[stepKeyword] = true;
    return out;
  }

  get #isOld(): boolean {
    return this.#dialect === 'draft-04' || this.#dialect === 'openapi-3.0';
  }

  #keyword(out: JsonObject, name: string, value: JsonValue, pointer: string, level: number): void {
    if (this.#dialect.startsWith('openapi') && ofResources.has(name)) {
      if (name.endsWith('Ref')) throw new SchemaError(pointer, 'only $ref is followed in a document');
      return;
    }
    if (name === 'id') out['$id'] = value;
    else if (name === '$ref') out[name] = this.#reference(value, pointer);
    else if (name === 'format') this.#format(out, value, pointer);
    else if (Object.hasOwn(schemaPlaces, name)) out[name] = this.#nested(name, value, pointer, level + 1);
    else out[name] = value;
    if (name === 'pattern') checkPattern(value, pointer);
  }

  #reference(value: JsonValue, pointer: string): string {
    if (typeof value !== 'string') throw new SchemaError(pointer, 'must be a text');
    return this.#options.rewriteRef?.(value, pointer) ?? value;
  }

  /** OpenAPI allows custom formats; elsewhere an unknown one is a typing error. */
  #format(out: JsonObject, value: JsonValue, pointer: string): void {
    if (typeof value !== 'string') throw new SchemaError(pointer, 'must be a text');
    if (isKnownFormat(value)) out['format'] = value;
    else if (!this.#dialect.startsWith('openapi')) throw new SchemaError(pointer, 'there is no such format');
  }

  #nested(name: string, value: JsonValue, pointer: string, level: number): JsonValue {
    const place = schemaPlaces[name];
    if (place === 'schemas') return this.#list(value, pointer, level);
    if (place === 'either' && Array.isArray(value)) return this.#list(value, pointer, level);
    if (place === 'named schemas' || place === 'dependencies') {
      if (name === 'patternProperties' && isJsonObject(value)) {
        for (const pattern of Object.keys(value)) checkPattern(pattern, pointer + pointerStep(pattern));
      }
      return this.#named(value, pointer, level, place === 'dependencies');
    }
    // `additionalProperties` and `additionalItems` are older than boolean schemas.
    return typeof value === 'boolean' && name.startsWith('additional') ? value : this.schema(value, pointer, level);
  }

  #list(value: JsonValue, pointer: string, level: number): JsonValue {
    if (!Array.isArray(value)) throw new SchemaError(pointer, 'must be a list of schemas');
    return value.map((one, at) => this.schema(one, `${pointer}/${at}`, level));
  }

  #named(value: JsonValue, pointer: string, level: number, orNames: boolean): JsonValue {
    if (!isJsonObject(value)) throw new SchemaError(pointer, 'must be an object of schemas');
    const out: JsonObject = {};
    for (const [name, one] of Object.entries(value)) {
      // The validator skips a member of this name, so it would not be checked.
      if (name === '__proto__') throw new SchemaError(pointer, 'a member cannot be called __proto__');
      const at = pointer + pointerStep(name);
      setMember(out, name, orNames && Array.isArray(one) ? one : this.schema(one, at, level));
    }
    return out;
  }

  #relaxRequired(out: JsonObject, schema: JsonObject): void {
    const { required } = out;
    const members = schema['properties'];
    if (!Array.isArray(required) || !isJsonObject(members)) return;
    out['required'] = required.filter((name) => {
      const member = typeof name === 'string' && Object.hasOwn(members, name) ? members[name] : undefined;
      return member === undefined || this.#options.mayMiss?.(member) !== true;
    });
  }
}

/** Keywords that make a schema a separate resource. */
const ofResources = new Set([
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  '$recursiveAnchor',
  '$recursiveRef',
  '$defs',
  'definitions',
]);

/** In old dialects the exclusive bounds are flags next to the bounds. */
function exclusiveBounds(out: JsonObject): void {
  for (const [bound, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    const value = out[exclusive];
    if (typeof value !== 'boolean') continue;
    delete out[exclusive];
    if (!value || out[bound] === undefined) continue;
    out[exclusive] = out[bound];
    delete out[bound];
  }
}

/** OpenAPI 3.0.3: `nullable` adds null to the `type` next to it, and has no effect without one. */
function nullable(out: JsonObject, schema: JsonObject): void {
  delete out['nullable'];
  const { type } = out;
  if (schema['nullable'] === true && typeof type === 'string' && type !== 'null') out['type'] = [type, 'null'];
}

function checkPattern(pattern: JsonValue, pointer: string): void {
  if (typeof pattern !== 'string') throw new SchemaError(pointer, 'must be a text');
  try {
    compileRegex(pattern);
  } catch (error) {
    throw new SchemaError(
      pointer,
      `the regular expression cannot be used: ${error instanceof Error ? error.message : error}`,
    );
  }
}

import { isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import {
  type BodyChecker,
  bodyChecker,
  compileParameter,
  type Parameter,
  type ParameterPlace,
  type ParameterStyle,
  pointerStep,
  type SchemaCheck,
  SchemaError,
  type Shape,
  shapeOf,
  stylesOf,
} from '../json-schema/index.ts';
import type { Bundle, Direction } from './bundle-schema.ts';
import type { OperationSource } from './read-operations.ts';
import { type Located, resolved } from './references.ts';

/** How bodies of one media type are checked. */
export interface BodyRule {
  /** `application/json`, `image/*`. */
  readonly range: string;
  readonly check: BodyChecker | null;
  /** Of forms. */
  readonly form: { readonly shape: Shape; readonly check: SchemaCheck } | null;
}

export interface Operation {
  readonly source: OperationSource;
  readonly parameters: readonly Parameter[];
  /** Names of declared query arguments; null: an object allows any. */
  readonly queryNames: ReadonlySet<string> | null;
  /** Null: no body is declared. */
  readonly body: { readonly required: boolean; readonly rules: readonly BodyRule[] } | null;
  /** By `200`, `2XX` and `default`. `rules` is null for responses without declared content. */
  readonly responses: ReadonlyMap<string, { readonly rules: readonly BodyRule[] | null }>;
}

/** Returns the schema at a location of the document, prepared for the validator. */
export type Bundles = (schema: Located, direction: Direction) => Bundle;

/** Compiles the checks of one operation. Throws a `SchemaError` with the location in the document. */
export function compileOperation(document: JsonObject, source: OperationSource, bundle: Bundles): Operation {
  const compiler = new OperationCompiler(document, bundle);
  const parameters = source.parameters.flatMap((one) => compiler.parameter(one));
  return {
    source,
    parameters,
    queryNames: queryNames(parameters),
    body: compiler.requestBody(source),
    responses: compiler.responses(source),
  };
}

/** OpenAPI: definitions of these headers as parameters are ignored. */
const ignoredHeaders = new Set(['accept', 'content-type', 'authorization']);

class OperationCompiler {
  readonly #document: JsonObject;
  readonly #bundle: Bundles;

  constructor(document: JsonObject, bundle: Bundles) {
    this.#document = document;
    this.#bundle = bundle;
  }

  parameter({ value, pointer }: Located<JsonObject>): readonly Parameter[] {
    const { name, in: place, style, explode, required, schema, content, allowEmptyValue } = value;
    if (place === 'header' && ignoredHeaders.has(String(name).toLowerCase())) return [];
    const known = stylesOf[place as ParameterPlace];
    if (style !== undefined && !known.includes(style as ParameterStyle)) {
      throw new SchemaError(`${pointer}/style`, `must be one of ${known.join(', ')} in a ${place}`);
    }
    if (place === 'path' && required !== true) throw new SchemaError(pointer, 'a parameter of a path must be required');
    if ((schema === undefined) === (content === undefined)) {
      throw new SchemaError(pointer, 'a parameter needs either a schema or a content');
    }
    const described =
      content === undefined
        ? { value: schema as JsonValue, pointer: `${pointer}/schema` }
        : this.#only(content, pointer);
    const bundle = described === null ? null : this.#bundle(described, 'request');
    const options = {
      name: String(name),
      in: place as ParameterPlace,
      required: required === true,
      ...(style !== undefined && { style: style as ParameterStyle }),
      ...(typeof explode === 'boolean' && { explode }),
      allowEmpty: allowEmptyValue === true,
      json: content !== undefined && bundle !== null,
      schema: bundle?.prepared ?? null,
      ...(bundle !== null && { check: bundle.check }),
    };
    return [compileParameter(options)];
  }

  requestBody({ operation, pointer }: OperationSource): Operation['body'] {
    const { requestBody } = operation;
    if (requestBody === undefined) return null;
    const body = resolved(this.#document, { value: requestBody, pointer: `${pointer}/requestBody` });
    const rules = this.#rules(body, 'request');
    if (rules === null) throw new SchemaError(body.pointer, 'a body needs a content');
    return { required: body.value['required'] === true, rules };
  }

  responses({ operation, pointer }: OperationSource): Operation['responses'] {
    const { responses = {} } = operation;
    const place = `${pointer}/responses`;
    if (!isJsonObject(responses)) throw new SchemaError(place, 'must be an object');
    const found = new Map<string, { readonly rules: readonly BodyRule[] | null }>();
    for (const [status, value] of Object.entries(responses)) {
      if (status.startsWith('x-')) continue;
      const where = place + pointerStep(status);
      if (!/^(?:[1-5](?:\d\d|XX)|default)$/.test(status))
        throw new SchemaError(where, 'must be a status, 2XX or default');
      found.set(status, { rules: this.#rules(resolved(this.#document, { value, pointer: where }), 'response') });
    }
    return found;
  }

  /** The schema of a content with one JSON type; null: it has none, or is of another type. */
  #only(content: JsonValue, pointer: string): Located | null {
    const entries = isJsonObject(content) ? Object.entries(content) : [];
    const [range, media] = entries[0] ?? [];
    if (range === undefined || entries.length > 1)
      throw new SchemaError(`${pointer}/content`, 'must have one media type');
    const schema = isJsonObject(media) ? media['schema'] : undefined;
    if (schema === undefined || !isJsonRange(range)) return null;
    return { value: schema, pointer: `${pointer}/content${pointerStep(range)}/schema` };
  }

  #rules({ value, pointer }: Located<JsonObject>, direction: Direction): readonly BodyRule[] | null {
    const { content } = value;
    if (content === undefined) return null;
    if (!isJsonObject(content)) throw new SchemaError(`${pointer}/content`, 'must be an object');
    const rules = Object.entries(content).map(([name, media]) => {
      const where = `${pointer}/content${pointerStep(name)}`;
      if (!isJsonObject(media)) throw new SchemaError(where, 'must be an object');
      return this.#rule(name, media['schema'], where, direction);
    });
    // The most specific range comes first.
    return rules.sort((a, b) => stars(a.range) - stars(b.range));
  }

  #rule(name: string, schema: JsonValue | undefined, pointer: string, direction: Direction): BodyRule {
    const range = (name.split(';')[0] ?? '').trim().toLowerCase();
    if (!/^[^\s/]+\/[^\s/]+$/.test(range)) throw new SchemaError(pointer, 'is not a media type');
    if (schema === undefined) return { range, check: null, form: null };
    const { prepared, check } = this.#bundle({ value: schema, pointer: `${pointer}/schema` }, direction);
    const isForm = range === 'application/x-www-form-urlencoded';
    return {
      range,
      check: isJsonRange(range) ? bodyChecker(prepared, check) : null,
      form: isForm ? { shape: shapeOf(prepared), check } : null,
    };
  }
}

function isJsonRange(range: string): boolean {
  return /^(?:application\/json\b|[^/]+\/[^;]*\+json\b)/i.test(range);
}

function stars(range: string): number {
  return range === '*/*' ? 2 : range.endsWith('/*') ? 1 : 0;
}

function queryNames(parameters: readonly Parameter[]): ReadonlySet<string> | null {
  const names = new Set<string>();
  for (const { in: place, name, shape, style, explode, json } of parameters) {
    if (place !== 'query') continue;
    if (json || !shape.types.has('object') || style !== 'form' || !explode) names.add(name);
    else if (shape.members.size === 0 || shape.others !== null) return null;
    else for (const member of shape.members.keys()) names.add(member);
  }
  return names;
}

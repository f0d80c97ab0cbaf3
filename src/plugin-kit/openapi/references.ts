import { isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import { SchemaError } from '../json-schema/index.ts';

/** A value of the document, and its location. */
export interface Located<T extends JsonValue = JsonValue> {
  readonly value: T;
  readonly pointer: string;
}

const maxSteps = 20;

/** Resolves a reference within the document. `pointer`: of the reference itself, for messages. */
export function lookUp(document: JsonObject, ref: string, pointer: string): Located {
  if (ref !== '#' && !ref.startsWith('#/')) {
    throw new SchemaError(pointer, 'only references within the document (#/...) are followed');
  }
  let value: JsonValue | undefined = document;
  const target = percentDecoded(ref.slice(1), pointer);
  for (const step of target.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) value = /^\d+$/.test(name) ? value[Number(name)] : undefined;
    else value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    if (value === undefined) throw new SchemaError(pointer, 'the reference leads to nothing');
  }
  return { value, pointer: target };
}

/** The object, with references resolved. */
export function resolved(document: JsonObject, located: Located): Located<JsonObject> {
  let { value, pointer } = located;
  for (let steps = 0; isJsonObject(value) && typeof value['$ref'] === 'string'; steps++) {
    if (steps >= maxSteps) throw new SchemaError(located.pointer, 'the references lead in a circle');
    ({ value, pointer } = lookUp(document, value['$ref'], `${pointer}/$ref`));
  }
  if (!isJsonObject(value)) throw new SchemaError(pointer, 'must be an object');
  return { value, pointer };
}

function percentDecoded(text: string, pointer: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new SchemaError(pointer, 'the reference is not percent-encoded rightly');
  }
}

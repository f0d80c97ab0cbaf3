import { isFramingHeader } from '../../plugin-sdk/header-names.ts';
import { namedField, namedValue } from '../http/named-value.ts';
import { JsonValueError, type JsonValueType, jsonValue } from '../json/json-changes.ts';
import { jsonFieldProblem } from '../json/json-field.ts';
import { templateProblem, unsafePath } from './templates.ts';

/*
 * The problem of an element of a transformer's configuration, in Kong's words where Kong checks it; null: none.
 */

/** The message that the templates read; see `TemplateOptions`. */
type Over = 'request' | 'answer';

const headerShape = /^[A-Za-z0-9_-]+$/;
const control = /[\0-\x08\x0a-\x1f\x7f]/;
const hostShape = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** `name:value` of a header, whose value is a template. */
export function headerValueProblem(text: string, over: Over = 'request'): string | null {
  const pair = namedValue(text);
  if (pair === null) return `'${text}' is not a valid header`;
  const { name, value } = pair;
  if (!headerShape.test(name)) return `'${name}' is not a valid header`;
  if (value === '') return `key '${name}' has no value`;
  if (control.test(value)) return `the value of '${name}' has a control character`;
  if (name.toLowerCase() === 'host' && !value.includes('$(') && !isHost(value.trim()))
    return `invalid hostname: ${value}`;
  return valueProblem(value, over);
}

export function headerRenameProblem(text: string): string | null {
  const { name = text, value = '' } = namedValue(text) ?? {};
  if (!headerShape.test(name)) return `'${name}' is not a valid header`;
  if (value === '') return `key '${name}' has no value`;
  return headerShape.test(value) ? null : `'${value}' is not a valid header`;
}

/** `name:value` of a query argument. */
export function argumentProblem(text: string, over: Over = 'request'): string | null {
  const { name = text, value = '' } = namedValue(text) ?? {};
  return namedProblem(name, value, over);
}

export function argumentRenameProblem(text: string): string | null {
  const { name = text, value = '' } = namedValue(text) ?? {};
  return unvalued(name, value);
}

/** `name:value` of a field of the body, whose name may be a path. */
export function fieldProblem(text: string, over: Over = 'request'): string | null {
  const { name = text, value = '' } = namedField(text) ?? {};
  return namedProblem(name, value, over) ?? jsonFieldProblem(name);
}

export function fieldRenameProblem(text: string): string | null {
  const { name = text, value = '' } = namedField(text) ?? {};
  return unvalued(name, value) ?? jsonFieldProblem(name);
}

export function uriProblem(text: string): string | null {
  const problem = templateProblem(text, { target: 'path' });
  if (problem !== null) return unsupported(text, problem);
  const fixed = text.replace(/\$\(.*\)/gs, 'x');
  if (/[?#]/.test(fixed))
    return unsupported(text, 'a path has no query and no fragment; add.querystring adds to the query');
  return unsafePath(fixed) ? unsupported(text, 'a path must not have dot segments or control characters') : null;
}

/** True for a valid value of a Host header. */
export function isHost(text: string): boolean {
  return hostShape.test(text);
}

/** True when no header can have this value. */
export function hasControl(text: string): boolean {
  return control.test(text);
}

function unvalued(name: string, value: string): string | null {
  return value === '' ? `key '${name}' has no value` : null;
}

function namedProblem(name: string, value: string, over: Over): string | null {
  return unvalued(name, value) ?? valueProblem(value, over);
}

function valueProblem(value: string, over: Over): string | null {
  const problem = templateProblem(value, { over });
  return problem === null ? null : unsupported(value, problem);
}

function unsupported(value: string, problem: string): string {
  return `value '${value}' is not in supported format, error:${problem}`;
}

/** True for the name of a header, except for framing headers, which the gateway writes. */
export function isPluginsHeader(name: string): boolean {
  return headerShape.test(name) && !isFramingHeader(name);
}

/** `name:value` whose value, when it is known now, must be of this type. */
export function jsonValueProblem(text: string, type: JsonValueType): string | null {
  const pair = namedField(text);
  if (pair === null || type === 'string' || pair.value.includes('$(')) return null;
  try {
    jsonValue(`'${pair.name}'`, pair.value, type);
    return null;
  } catch (error) {
    if (error instanceof JsonValueError) return error.message;
    throw error;
  }
}

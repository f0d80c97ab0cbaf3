import { endOfMessage, errorPlace, isObject, member, placeText, textMember } from './error-place.ts';

/** Fields of the error log for what a plugin threw. */
export interface FailureFields {
  /** The stack, or the value as text. */
  readonly error: string;
  /** `file:line:column` in the code of a plugin. */
  readonly at?: string;
}

/**
 * Describes what a plugin threw: any value, also one whose members throw. Only messages and stacks are written, never other members,
 * which may contain the request. Bounded: a message may contain what a client sent. Never throws.
 */
export function failureFields(error: unknown): FailureFields {
  const place = errorPlace(error);
  const text = failureText(error);
  return place === null ? { error: text } : { error: text, at: placeText(place) };
}

/** The message of what was thrown, in one line. Never throws. */
export function failureMessage(error: unknown): string {
  const text = isObject(error) ? textMember(error, 'message') || nameOf(error) : plainText(error);
  return cut(text.split('\n', 1)[0] ?? '', maxMessage);
}

const maxMessage = 2000;
const maxStack = 6000;
const maxFrames = 30;
const maxCauses = 3;

function failureText(error: unknown): string {
  const parts: string[] = [];
  let current = error;
  for (let depth = 0; depth <= maxCauses; depth++) {
    parts.push(isObject(current) ? stackText(current) : cut(primitiveText(current), maxMessage));
    current = isObject(current) ? member(current, 'cause') : undefined;
    if (current === undefined) break;
  }
  return parts.join('\ncaused by: ');
}

function stackText(error: object): string {
  const stack = textMember(error, 'stack');
  const message = textMember(error, 'message');
  if (stack === '') return cut([nameOf(error), message].filter((text) => text !== '').join(': '), maxMessage);
  const begin = endOfMessage(error, stack);
  const frames = stack
    .slice(begin, begin + maxStack)
    .split('\n')
    .slice(0, maxFrames + 1);
  return `${cut(stack.slice(0, begin), maxMessage)}${frames.join('\n')}`;
}

function nameOf(value: object): string {
  const name = textMember(value, 'name');
  return name === '' ? `thrown: ${typeof value}` : cut(name, 100);
}

function primitiveText(value: unknown): string {
  return `thrown: ${plainText(value)}`;
}

function plainText(value: unknown): string {
  return typeof value === 'symbol' || typeof value === 'function' ? `a ${typeof value}` : String(value);
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}... (${text.length} characters)`;
}

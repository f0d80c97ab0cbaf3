import type { TextPosition } from '../json/body-syntax-error.ts';

/** A document exceeds a limit other than its size in bytes. The message never shows its content. */
export class XmlLimitError extends Error {
  constructor(what: string, position: TextPosition | null) {
    super(`the XML ${what}${position === null ? '' : ` (line ${position.line}, column ${position.column})`}`);
    this.name = 'XmlLimitError';
  }
}

/** An unsupported encoding: UTF-8, UTF-16 with a byte order mark, ISO-8859-1 and US-ASCII are supported. */
export class XmlEncodingError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'XmlEncodingError';
  }
}

/**
 * A value that has no form in the other format: a member name that is not an element name, a character that XML does not allow.
 * `trail` locates it by numbers, so that the message shows no names: the third member, in it the first.
 */
export class XmlMappingError extends Error {
  constructor(what: string, trail: readonly number[] = []) {
    const where = trail.length === 0 ? '' : ` (in place ${trail.join('.')})`;
    super(`the body cannot be converted: ${what}${where}`);
    this.name = 'XmlMappingError';
  }
}

/** The problem of a body, by the type of the error from reading or converting it. */
export type BodyFault = 'syntax' | 'limit' | 'encoding' | 'mapping';

const faults: ReadonlyMap<string, BodyFault> = new Map([
  ['BodySyntaxError', 'syntax'],
  ['XmlLimitError', 'limit'],
  ['XmlEncodingError', 'encoding'],
  ['XmlMappingError', 'mapping'],
]);

/** By name, which errors from another thread keep. Null: the error is not about the body. */
export function bodyFault(error: unknown): BodyFault | null {
  return error instanceof Error ? (faults.get(error.name) ?? null) : null;
}

const requestStatuses: Readonly<Record<BodyFault, number>> = { syntax: 400, limit: 413, encoding: 415, mapping: 400 };

/** The status for a client that sent such a body; a backend's is always a 502. */
export function requestFaultStatus(fault: BodyFault): number {
  return requestStatuses[fault];
}

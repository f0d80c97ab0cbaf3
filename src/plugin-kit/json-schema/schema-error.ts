/** A schema that cannot be used. The message has the location, as a JSON pointer, and the reason. */
export class SchemaError extends Error {
  readonly pointer: string;
  readonly reason: string;

  constructor(pointer: string, reason: string) {
    super(pointer === '' ? reason : `${pointer}: ${reason}`);
    this.name = 'SchemaError';
    this.pointer = pointer;
    this.reason = reason;
  }
}

/** One step of a JSON pointer (RFC 6901). */
export function pointerStep(name: string | number): string {
  return `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

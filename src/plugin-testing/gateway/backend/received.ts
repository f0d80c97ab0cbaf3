import type { ReceivedRequest } from './contract.ts';

export type ReceivedHead = Pick<ReceivedRequest, 'method' | 'path' | 'httpVersion' | 'address' | 'serial'>;

/** A request that a backend is receiving. */
export class Received implements ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly httpVersion: '1.1' | '2';
  readonly address: string;
  readonly serial: number;
  complete = false;
  #pieces: Buffer[] = [];

  /** `fields`: names and values in turn, as they arrived. */
  constructor(head: ReceivedHead, fields: readonly string[]) {
    this.method = head.method;
    this.path = head.path;
    this.httpVersion = head.httpVersion;
    this.address = head.address;
    this.serial = head.serial;
    this.headers = fieldValues(fields);
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece);
  }

  get bytes(): Buffer {
    if (this.#pieces.length > 1) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0] ?? Buffer.alloc(0);
  }

  get body(): string {
    return this.bytes.toString();
  }

  header(name: string): string | null {
    return this.headers[name.toLowerCase()]?.[0] ?? null;
  }
}

/** Values by lower-case name. Clients choose the names: `__proto__` is one. */
export function fieldValues(fields: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const values: Record<string, string[]> = Object.create(null);
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = (fields[at] as string).toLowerCase();
    const all = values[name] ?? [];
    values[name] = all;
    all.push(fields[at + 1] as string);
  }
  return values;
}

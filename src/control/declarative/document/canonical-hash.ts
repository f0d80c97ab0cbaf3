import { createHash } from 'node:crypto';

/** MD5, as Kong has it: of the text. It identifies a document, and protects nothing. */
export function hashText(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

/** The hash of a value without text, whatever the order of its keys. */
export function hashValue(value: unknown): string {
  const hash = createHash('md5');
  let pending = '';
  write(value, (piece) => {
    pending += piece;
    if (pending.length < 65_536) return;
    hash.update(pending);
    pending = '';
  });
  return hash.update(pending).digest('hex');
}

function write(value: unknown, emit: (piece: string) => void): void {
  if (typeof value !== 'object' || value === null) {
    emit(JSON.stringify(value) ?? 'null');
    return;
  }
  if (Array.isArray(value)) {
    emit('[');
    for (const inner of value) {
      write(inner, emit);
      emit(',');
    }
    emit(']');
    return;
  }
  emit('{');
  for (const key of Object.keys(value).sort()) {
    emit(`${JSON.stringify(key)}:`);
    write((value as Record<string, unknown>)[key], emit);
    emit(',');
  }
  emit('}');
}

import { createHash } from 'node:crypto';
import { stripTypeScriptTypes } from 'node:module';

/** A module as it was read when the code was recorded. */
export interface RecordedModule {
  /** As Node names it. TypeScript is recorded as the JavaScript that it becomes: workers need no parser for it. */
  readonly format: string;
  readonly source: string | Uint8Array;
  /** Of the file. */
  readonly digest: string;
  /** A CommonJS module: Node loads it once in each thread, so it cannot be replaced. */
  readonly fixed: boolean;
}

/**
 * What threads load of a file. Stacks name its URL, and not that of the version under which it is loaded. Throws for what is no
 * TypeScript.
 */
export function recordModule(url: string, format: string, file: string | Uint8Array): RecordedModule {
  const digest = digestOf(file);
  const fixed = isCommonJs(format);
  if (format === 'wasm') return { format, source: bytesOf(file), digest, fixed };
  const text = typeof file === 'string' ? file : Buffer.from(file).toString();
  if (format === 'module-typescript' && !url.includes('/node_modules/')) {
    return { format: 'module', source: stripTypeScriptTypes(text, { sourceUrl: url }), digest, fixed };
  }
  const named = format === 'module' && !text.includes('//# sourceURL=');
  return { format, source: named ? `${text}\n//# sourceURL=${url}` : text, digest, fixed };
}

export function digestOf(file: string | Uint8Array): string {
  return createHash('sha256').update(file).digest('hex');
}

export function isCommonJs(format: string | null | undefined): boolean {
  return format?.startsWith('commonjs') === true;
}

function bytesOf(file: string | Uint8Array): Uint8Array {
  return typeof file === 'string' ? Buffer.from(file) : new Uint8Array(file);
}

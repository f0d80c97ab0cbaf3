import { readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { z } from 'zod';

/**
 * The types that the declarations of the SDK take from zod. Its own declarations are 95 files, and their check takes 1.6 s
 * of processor time with TypeScript 5.9: more than everything else together.
 */
declare namespace declared {
  /** The validation of a value: a part of the type of zod. */
  interface ZodType<T = unknown> {
    readonly _output: T;
    /** Throws the `error` of `safeParse`. */
    parse(input: unknown): T;
    safeParse(input: unknown): ZodResult<T>;
  }
  type ZodResult<T> =
    | { readonly success: true; readonly data: T; readonly error?: undefined }
    | { readonly success: false; readonly data?: undefined; readonly error: ZodFailure };
  interface ZodFailure extends Error {
    readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
  }
  type infer<Z extends ZodType> = Z['_output'];
}

/** Does not compile when zod has something else under these names. */
export type Fits = [
  Same<z.ZodType<{ readonly a: string | null }> extends declared.ZodType<{ readonly a: string | null }> ? 1 : 0>,
  Same<z.ZodType<string> extends declared.ZodType<number> ? 0 : 1>,
];
type Same<T extends 1> = T;

const name = 'zod.d.ts';

/** Lets the declarations of a build take the types of zod from a file of their own. `files`: those of `target`. */
export function replaceZod(target: string, files: readonly string[]): void {
  const wanted = files.filter((file) => file.endsWith('.d.ts'));
  for (const file of wanted) {
    const path = join(target, file);
    const text = readFileSync(path, 'utf8');
    const changed = withOwnZod(text, posix.relative(posix.dirname(file.replaceAll('\\', '/')), name));
    if (changed !== text) writeFileSync(path, changed);
  }
  writeFileSync(join(target, name), ownDeclarations(readFileSync(import.meta.filename, 'utf8')));
}

/** @throws Error The declarations use a type that is not in the list above. */
export function withOwnZod(text: string, path: string): string {
  const own = `./${path}`.replace('./../', '../').replace(/\.d\.ts$/, '.js');
  const changed = text.replaceAll(/^import (?:type )?\{ z \} from (['"])zod\1;$/gm, `import type { z } from '${own}';`);
  if (/from ['"]zod['"]|import\(['"]zod['"]\)/.test(changed))
    throw new Error(`an import of zod that is not known: ${text}`);
  const [unknown] = changed === text ? [] : [...text.matchAll(/\bz\.(?!ZodType\b|infer\b)\w+/g)];
  if (unknown !== undefined) throw new Error(`declarations use ${unknown[0]}: add it to zod-declarations.ts`);
  return changed;
}

function ownDeclarations(source: string): string {
  const [, body = ''] = /^declare namespace declared \{\n(.*?)^\}$/ms.exec(source) ?? [];
  const exported = body.replaceAll(/^ {2}(interface|type)/gm, '  export $1');
  return `/** What the declarations of the SDK need of zod, whose own are large. */\nexport declare namespace z {\n${exported}}\n`;
}

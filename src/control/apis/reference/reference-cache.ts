import { createHash } from 'node:crypto';
import { OffThreadError, offThread } from '../../../plugin-kit/runtime/index.ts';
import { BoundedCache } from '../../../shared/util/bounded-cache.ts';
import type { BuiltReference } from './api-reference.ts';

/** References that are kept: a large one takes some megabytes. */
const size = 8;

const build = offThread<[string], BuiltReference>(new URL('./build-reference.ts', import.meta.url), 'buildReference', {
  deadline: 20_000,
});

/** The references of the documents that were read last, each built once. */
export class ReferenceCache {
  readonly #built = new BoundedCache<string, Promise<BuiltReference>>(size);

  /** `document`: its text. Never rejects because of the document. */
  of(document: string): Promise<BuiltReference> {
    const key = createHash('sha256').update(document).digest('base64');
    const known = this.#built.get(key);
    if (known !== undefined) return known;
    const building = build(document).catch((error: unknown): BuiltReference => {
      this.#built.delete(key);
      if (error instanceof OffThreadError) return { ok: false, message: `it could not be read: ${error.message}` };
      throw error;
    });
    this.#built.set(key, building);
    return building;
  }
}

import { BoundedCache } from '../../../plugin-kit/runtime/index.ts';
import { RuleSets } from '../rules/rule-sets.ts';
import type { DataMaskingConfig } from '../schema.ts';

/** Which rules of a configuration apply. */
export interface Selection {
  /** `log`: bodies that are recorded. */
  readonly direction: 'request' | 'response' | 'log';
  /** Bit n: rule n does not apply to this client. */
  readonly exempted: number;
}

const known = new BoundedCache<string, RuleSets>(16);

/**
 * Masks large bodies in a separate thread; `configText` is the configuration as JSON. Body and result are in shared memory:
 * copying them with a message takes several times as long.
 */
export async function maskBody(
  configText: string,
  { direction, exempted }: Selection,
  contentType: string,
  body: Uint8Array,
): Promise<Uint8Array> {
  let sets = known.get(configText);
  if (sets === undefined) {
    sets = new RuleSets(JSON.parse(configText) as DataMaskingConfig);
    known.set(configText, sets);
  }
  const masker = direction === 'log' ? sets.loggedBodies : sets.of(direction, exempted).masker;
  if (masker === null) throw new Error('there is no rule for this body');
  return sharedCopy(await masker.mask(contentType, Buffer.from(body)));
}

export function sharedCopy(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
  copy.set(bytes);
  return copy;
}

import { BoundedCache } from '../../plugin-sdk/index.ts';
import { RuleSets } from './rule-sets.ts';
import type { DataMaskingConfig } from './schema.ts';

/** Which of the rules of a configuration hold. */
export interface Selection {
  readonly direction: 'request' | 'response';
  /** Bit n: rule n does not hold for this client. */
  readonly lifted: number;
}

const known = new BoundedCache<string, RuleSets>(16);

/**
 * What runs in a thread of its own for large bodies; `configText` is the configuration in JSON. Body and result are in shared memory:
 * to be copied by a message takes several times as long.
 */
export async function maskBody(
  configText: string,
  { direction, lifted }: Selection,
  contentType: string,
  body: Uint8Array,
): Promise<Uint8Array> {
  let sets = known.get(configText);
  if (sets === undefined) {
    sets = new RuleSets(JSON.parse(configText) as DataMaskingConfig);
    known.set(configText, sets);
  }
  const { masker } = sets.of(direction, lifted);
  if (masker === null) throw new Error('there is no rule for this body');
  return sharedCopy(await masker.mask(contentType, Buffer.from(body)));
}

export function sharedCopy(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
  copy.set(bytes);
  return copy;
}

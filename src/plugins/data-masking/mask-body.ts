import { BoundedCache } from '../../plugin-sdk/index.ts';
import { BodyMasker } from './masker.ts';
import { RuleSets } from './rule-sets.ts';
import type { DataMaskingConfig } from './schema.ts';

/** Which of the rules of a configuration hold. */
export interface Selection {
  readonly direction: 'request' | 'response';
  /** Bit n: rule n does not hold for this client. */
  readonly lifted: number;
}

const known = new BoundedCache<string, RuleSets>(16);

/** What runs in a thread of its own for large bodies; `configText` is the configuration in JSON. The result is a copy. */
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
  return masker instanceof BodyMasker ? masker.mask(contentType, body) : body;
}

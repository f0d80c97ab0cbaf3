import { mediaType } from '../../../plugin-kit/http/index.ts';
import type { LogMask } from '../../../plugin-sdk/phases.ts';
import { maskCredentials } from '../../../shared/logs/credentials/mask-credentials.ts';
import type { SecretFields } from '../../../shared/logs/credentials/secret-names.ts';
import type { RecordedBody } from '../../../shared/traffic/traffic-record.ts';
import { asBuffer } from '../../../shared/util/bytes/as-buffer.ts';
import { contentCodings } from '../../../shared/util/bytes/content-coding.ts';
import type { TimeBudget } from '../time-budget.ts';
import { bodyText } from './body-text.ts';
import { decodePrefix } from './decode-prefix.ts';
import { withoutValues } from './own-secrets.ts';

/** A copied body and what is needed to show it. */
export interface CopiedBody {
  /** Null: there was no memory for it. */
  readonly copy: Buffer | null;
  readonly isCut: boolean;
  /** Bytes of the whole body. */
  readonly bytes: number;
  /** Values of the header fields. */
  readonly contentTypes: readonly string[];
  readonly contentEncodings: readonly string[];
}

/** What must not be shown. */
export interface BodyMasking {
  /** Those of the route's plugins. */
  readonly masks: readonly LogMask[];
  readonly secrets: SecretFields;
  /** Credentials of the request. */
  readonly values: readonly string[];
  /** Limits the time that masking takes from requests. */
  readonly budget: TimeBudget;
}

export const reasons = {
  memory: 'too many bodies were recorded at once',
  busy: 'the worker was busy',
  slow: 'it took too long to mask',
  coding: 'its content coding is not known, or it is not encoded as it says',
  cut: 'rules of data-masking apply, and it is longer than what was recorded of it',
  unmaskable: 'rules of data-masking apply, and it cannot be masked',
  failed: 'masking it failed',
  binary: 'it is no text, and may contain credentials',
} as const;

/** The body as the Admin API shows it. What cannot be masked is left out, with the reason. `limit`: bytes. */
export async function shownBody(
  { copy, isCut, bytes, contentTypes, contentEncodings }: CopiedBody,
  { masks, secrets, values, budget }: BodyMasking,
  limit: number,
): Promise<RecordedBody> {
  const contentType = contentTypes.length === 1 ? (contentTypes[0] as string) : null;
  const media = mediaType(contentType);
  const facts = { media_type: media?.type ?? null, bytes };
  const without = (reason: keyof typeof reasons): RecordedBody => ({
    ...facts,
    truncated: true,
    reason: reasons[reason],
  });
  if (copy === null) return without('memory');
  const decoded = await decodePrefix(copy, contentCodings(contentEncodings), isCut, limit);
  if (decoded === null) return without('coding');
  let body = decoded.bytes;
  for (const mask of masks) {
    if (mask.body === undefined || body.byteLength === 0) continue;
    if (decoded.isCut) return without('cut');
    try {
      const masked = budget.spend(0, () => mask.body?.(contentType, body));
      if (masked === null || masked === undefined) return without('busy');
      body = asBuffer(await masked);
    } catch {
      return without('unmaskable');
    }
  }
  const { isCut: truncated } = decoded;
  const isForm = media?.isForm === true;
  const boundary = media?.type.startsWith('multipart/') === true ? media.parameter('boundary') : null;
  const shown = budget.spend(0, () => {
    const text = bodyText(body, media?.charset ?? null, truncated);
    if (text !== null) {
      const kind = { isForm, boundary, isCut: truncated };
      return { text: withoutValues(maskCredentials(text, kind, secrets), values) };
    }
    // Characters of two bytes hide names from a search.
    const plain = body.toString('latin1').replaceAll('\0', '');
    const hasSecret = secrets.isIn(plain) || values.some((value) => plain.includes(value));
    return hasSecret ? { reason: reasons.binary } : { base64: body.toString('base64') };
  });
  return { ...facts, truncated: truncated || shown?.reason !== undefined, ...(shown ?? without('busy')) };
}

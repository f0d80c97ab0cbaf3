/**
 * Writes DER, the encoding of X.509, for plugins that make certificates or requests for them: `sluicegate/plugin-kit/der`.
 * Every function returns the bytes of one element.
 */

export {
  bitString,
  derNull,
  derTrue,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  tagged,
  tlv,
  unsignedInteger,
  utcTime,
  utf8String,
} from '../../shared/util/bytes/der.ts';

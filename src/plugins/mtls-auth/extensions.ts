import { booleanOf, childrenOf, contentOf, type Der, derOf, expectTag, oidOf, tags } from './der.ts';

export interface Extension {
  readonly critical: boolean;
  /** DER of the value. */
  readonly value: Buffer;
}

/** Extensions by their object identifier. Throws when one is repeated (RFC 5280, 4.2). */
export function readExtensions(list: Der): ReadonlyMap<string, Extension> {
  const extensions = new Map<string, Extension>();
  for (const one of childrenOf(expectTag(list, tags.sequence))) {
    const parts = childrenOf(expectTag(one, tags.sequence));
    const id = oidOf(parts[0]);
    const critical = parts.length === 3 && booleanOf(parts[1]);
    if (parts.length < 2 || parts.length > 3 || extensions.has(id)) throw new Error('malformed extensions');
    extensions.set(id, { critical, value: contentOf(expectTag(parts.at(-1), tags.octetString)) });
  }
  return extensions;
}

/** Kinds of GeneralName (RFC 5280, 4.2.1.6) that are text, and addresses. */
const emailName = 0x81;
const dnsName = 0x82;
const uriName = 0x86;
const ipName = 0x87;

/** Texts of the names that are email addresses, host names, URIs or IP addresses. */
export function textsOf(names: readonly Der[]): readonly string[] {
  const texts: string[] = [];
  for (const name of names) {
    const content = contentOf(name);
    if (name.tag === emailName || name.tag === dnsName || name.tag === uriName) {
      const text = content.toString('latin1');
      // These are ASCII. Other names identify no consumer.
      if (/^[\x21-\x7e]+$/.test(text)) texts.push(text);
    } else if (name.tag === ipName) {
      const address = ipText(content);
      if (address !== null) texts.push(address);
    }
  }
  return texts;
}

/** URIs of the distribution points (RFC 5280, 4.2.1.13) that name one and have no other issuer. */
export function distributionUris(value: Buffer): readonly string[] {
  return childrenOf(derOf(value)).flatMap((point) => {
    const fields = childrenOf(point);
    if (fields.some(({ tag }) => tag === 0xa2)) return [];
    const name = fields.find(({ tag }) => tag === 0xa0);
    return name === undefined ? [] : pointUris(name);
  });
}

/** URIs of a DistributionPointName: those of its full name. */
export function pointUris(name: Der): readonly string[] {
  const full = childrenOf(name).find(({ tag }) => tag === 0xa0);
  return full === undefined ? [] : textsOf(childrenOf(full).filter(({ tag }) => tag === uriName));
}

function ipText(bytes: Buffer): string | null {
  if (bytes.byteLength === 4) return bytes.join('.');
  if (bytes.byteLength !== 16) return null;
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16));
  const { hostname } = new URL(`http://[${groups.join(':')}]`);
  return hostname.slice(1, -1);
}

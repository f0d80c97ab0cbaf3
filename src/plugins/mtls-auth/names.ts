import { childrenOf, contentOf, type Der, expectTag, oidOf, tags } from './der.ts';

/** One attribute of a distinguished name, such as the common name. */
export interface NamePart {
  readonly type: string;
  readonly value: string;
}

/** Short names of attributes (RFC 4514, 3), and other common ones. */
const shortNames: Readonly<Record<string, string>> = {
  '2.5.4.3': 'CN',
  '2.5.4.5': 'serialNumber',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.9': 'STREET',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
  '0.9.2342.19200300.100.1.1': 'UID',
  '0.9.2342.19200300.100.1.25': 'DC',
  '1.2.840.113549.1.9.1': 'emailAddress',
};

/** Parts of a Name, each with its sibling attributes. Values that are not text are ''. */
export function readName(name: Der): readonly (readonly NamePart[])[] {
  return childrenOf(expectTag(name, tags.sequence)).map((set) =>
    childrenOf(expectTag(set, tags.set)).map((part) => {
      const [type, value] = childrenOf(part);
      const id = oidOf(type);
      return { type: shortNames[id] ?? id, value: value === undefined ? '' : textOf(value) };
    }),
  );
}

/** A name as text (RFC 4514): the last part first; all characters except printable ASCII are escaped. */
export function nameText(name: readonly (readonly NamePart[])[]): string {
  const parts = name.map((set) => set.map(({ type, value }) => `${type}=${escaped(value)}`).join('+'));
  return parts.reverse().join(',');
}

/** The common name; null when it is absent or ambiguous: readers differ in which one they take. */
export function commonName(name: readonly (readonly NamePart[])[]): string | null {
  const common = name.flat().filter(({ type }) => type === 'CN');
  return common.length === 1 && common[0]!.value !== '' ? common[0]!.value : null;
}

function escaped(value: string): string {
  const safe = value.replace(/["+,;<=>\\]|^[ #]| $/g, '\\$&');
  return safe.replace(/[^\x20-\x7e]/gu, (char) => Buffer.from(char).toString('hex').replace(/../g, '\\$&'));
}

/** Text of the string types that certificates use; '' for other types and invalid values. */
function textOf(value: Der): string {
  const content = contentOf(value);
  const text = decoded(value.tag, content);
  // Other readers could truncate a name with NUL or other control characters.
  return /[\x00-\x1f\x7f-\x9f\ufffd]/.test(text) ? '' : text;
}

function decoded(tag: number, content: Buffer): string {
  switch (tag) {
    case 0x0c: // UTF8String
      return content.toString('utf8');
    case 0x12: // NumericString
    case 0x13: // PrintableString
    case 0x16: // IA5String
      return content.every((byte) => byte < 0x80) ? content.toString('latin1') : '';
    case 0x14: // TeletexString, in practice Latin-1
      return content.toString('latin1');
    case 0x1e: // BMPString
      return content.byteLength % 2 === 0 ? Buffer.from(content).swap16().toString('utf16le') : '';
    default:
      return '';
  }
}

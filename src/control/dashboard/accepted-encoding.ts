import { type BuiltFile, type Encoding, encodings } from './manifest.ts';

/** The smallest form of a file that the client accepts (`Accept-Encoding`, RFC 9110, section 12.5.3). */
export function acceptedEncoding(header: string | undefined, { sizes }: Pick<BuiltFile, 'sizes'>): Encoding {
  const weights = new Map<string, number>();
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((word) => word.trim());
    const quality = parameters.find((word) => word.startsWith('q='));
    weights.set(name, quality === undefined ? 1 : Number(quality.slice(2)));
  }
  const accepts = (encoding: Encoding): boolean => (weights.get(encoding) ?? weights.get('*') ?? 0) > 0;
  return encodings.find((encoding) => sizes[encoding] !== undefined && accepts(encoding)) ?? 'identity';
}

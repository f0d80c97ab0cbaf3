import { type BaseContext, contextKey, mediaType } from '../../plugin-sdk/index.ts';
import { Accepted, compareLikings, type Liking } from './accept.ts';
import { type Format, formatOf } from './formats.ts';
import type { XmlJsonOptions } from './options.ts';

/** What the client is to get: a format, and the media type for it when it has to be made. */
export interface Wanted {
  readonly format: Format;
  readonly type: string;
}

/**
 * By the `Accept` of the client; where it likes both equally by what it has sent, or else by the configuration. Null: it accepts
 * neither.
 */
export function wantedBy(context: BaseContext, options: XmlJsonOptions): Wanted | null {
  const { client, types } = options;
  const { request } = context;
  const accepted = new Accepted(request.headerValues('accept'));
  const json = best(accepted, types.json);
  const xml = best(accepted, types.xml);
  if (client !== null) return { format: client, type: (client === 'json' ? json : xml).type };
  if (json.liking.quality === 0 && xml.liking.quality === 0) return null;
  const order = compareLikings(json.liking, xml.liking);
  const equal = order === 0 ? (formatOf(mediaType(request.header('content-type'))) ?? options.preferred) : null;
  const format = equal ?? (order > 0 ? 'json' : 'xml');
  return { format, type: (format === 'json' ? json : xml).type };
}

function best(accepted: Accepted, types: readonly string[]): { readonly type: string; readonly liking: Liking } {
  let found = { type: types[0] as string, liking: accepted.liking(types[0] as string) };
  for (const type of types.slice(1)) {
    const liking = accepted.liking(type);
    if (compareLikings(liking, found.liking) > 0) found = { type, liking };
  }
  return found;
}

/** Wanted by this request, kept by instance. */
export class Wishes {
  readonly #options: XmlJsonOptions;
  readonly #key = contextKey<Wanted | 'neither'>('xml-json');

  constructor(options: XmlJsonOptions) {
    this.#options = options;
  }

  of(context: BaseContext): Wanted | null {
    const known = context.get(this.#key) ?? wantedBy(context, this.#options) ?? 'neither';
    context.set(this.#key, known);
    return known === 'neither' ? null : known;
  }
}

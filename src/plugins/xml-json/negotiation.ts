import { mediaType } from '../../plugin-kit/http/index.ts';
import { BoundedCache } from '../../plugin-kit/runtime/index.ts';
import type { BaseContext } from '../../plugin-sdk/index.ts';
import { Accepted, compareLikings, type Liking } from './accept.ts';
import { type Format, formatOf } from './formats.ts';
import type { XmlJsonOptions } from './options.ts';

/** The negotiated format, and its media type if the body is converted. */
export interface Wanted {
  readonly format: Format;
  readonly type: string;
}

/** A parsed `Accept`. */
interface Choice {
  /** Null: neither format. */
  readonly preferred: Wanted | null;
  /** Both formats have equal weight. */
  readonly equal: boolean;
  readonly json: Wanted;
  readonly xml: Wanted;
}

const maxChoices = 256;
const maxAcceptLength = 512;

/**
 * Negotiates the format of responses: by `Accept`; for equal weights by the format of the request, or else by the configuration.
 * Most clients send one of a few values, so parsed values are cached.
 */
export class Wishes {
  readonly #options: XmlJsonOptions;
  /** Fixed format with one media type. */
  readonly #fixed: Wanted | null;
  readonly #choices = new BoundedCache<string, Choice>(maxChoices);

  constructor(options: XmlJsonOptions) {
    this.#options = options;
    const { client, types } = options;
    const type = client === null ? undefined : types[client][0];
    const one = client !== null && type !== undefined && types[client].length === 1;
    this.#fixed = one ? Object.freeze({ format: client, type }) : null;
  }

  /** Null: the client accepts neither format. */
  of({ request }: BaseContext): Wanted | null {
    if (this.#fixed !== null) return this.#fixed;
    const choice = this.#choiceOf(request.headerValues('accept'));
    const { client, preferred } = this.#options;
    if (client !== null) return choice[client];
    if (!choice.equal) return choice.preferred;
    return choice[formatOf(mediaType(request.header('content-type'))) ?? preferred];
  }

  #choiceOf(values: readonly string[]): Choice {
    const accept = values.join(',');
    const known = this.#choices.get(accept);
    if (known !== undefined) return known;
    const made = choose(new Accepted(accept), this.#options);
    if (accept.length <= maxAcceptLength) this.#choices.set(accept, made);
    return made;
  }
}

function choose(accepted: Accepted, { types }: XmlJsonOptions): Choice {
  const json = best(accepted, types.json);
  const xml = best(accepted, types.xml);
  const order = compareLikings(json.liking, xml.liking);
  const some = json.liking.quality > 0 || xml.liking.quality > 0;
  const wantedJson: Wanted = Object.freeze({ format: 'json', type: json.type });
  const wantedXml: Wanted = Object.freeze({ format: 'xml', type: xml.type });
  const preferred = some ? (order > 0 ? wantedJson : wantedXml) : null;
  return { preferred, equal: some && order === 0, json: wantedJson, xml: wantedXml };
}

function best(accepted: Accepted, types: readonly string[]): { readonly type: string; readonly liking: Liking } {
  let found = { type: types[0] as string, liking: accepted.liking(types[0] as string) };
  for (const type of types.slice(1)) {
    const liking = accepted.liking(type);
    if (compareLikings(liking, found.liking) > 0) found = { type, liking };
  }
  return found;
}

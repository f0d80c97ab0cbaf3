import type { RequestView } from '../../plugin-sdk/index.ts';
import { type CursorSecret, openCursor, type Position } from './cursors.ts';
import type { Style } from './exactness.ts';
import { listName, otherArguments } from './query.ts';
import type { PaginationConfig } from './schema.ts';

/** The page that a client requests. */
export interface PageRequest {
  readonly style: Style;
  readonly limit: number;
  /** The request has a paging argument. */
  readonly explicit: boolean;
  /** Null: the beginning. */
  readonly from: Position | null;
  /** All arguments of the client except the paging arguments. */
  readonly others: readonly string[];
  /** Identifies the list, without the page. */
  readonly list: string;
}

/** A request that cannot be understood; `problem` is for the client. */
export interface Refused {
  readonly problem: string;
}

const maxTokenLength = 4096;

export class PageRequestReader {
  readonly #config: PaginationConfig;
  readonly #secret: CursorSecret;
  readonly #names: ReadonlySet<string>;

  constructor(config: PaginationConfig, secret: CursorSecret) {
    this.#config = config;
    this.#secret = secret;
    const { client } = config;
    this.#names = new Set([client.limit_name, ...config.clients.map((style) => client[`${style}_name`])]);
  }

  read(request: RequestView, routeId: string): PageRequest | Refused {
    const { client, clients } = this.#config;
    const given = request.queryArguments();
    for (const name of this.#names) {
      if ((given[name]?.length ?? 0) > 1) return { problem: `'${name}' is there twice` };
    }
    const used = clients.filter((style) => given[client[`${style}_name`]] !== undefined);
    const [style = clients[0] as Style, other] = used;
    if (other !== undefined) {
      return { problem: `'${client[`${style}_name`]}' and '${client[`${other}_name`]}' exclude each other` };
    }
    const limitText = given[client.limit_name]?.[0];
    const limit = this.#limit(limitText);
    if (typeof limit !== 'number') return limit;
    const others = otherArguments(request.query, this.#names);
    const list = listName(request.path, others, routeId);
    const text = used.length === 0 ? null : (given[client[`${style}_name`]]?.[0] ?? '');
    const from = text === null ? null : this.#start(style, text, limit, list);
    if (from !== null && 'problem' in from) return from;
    return { style, limit, explicit: used.length > 0 || limitText !== undefined, from, others, list };
  }

  #limit(text: string | undefined): number | Refused {
    const { client, default_limit: usual, max_limit: most, above_max: above } = this.#config;
    if (text === undefined) return usual;
    const limit = wholeNumber(text);
    if (limit === null || limit === 0)
      return { problem: `'${client.limit_name}' must be a whole number from 1 to ${most}` };
    if (limit <= most) return limit;
    return above === 'clamp' ? most : { problem: `'${client.limit_name}' must not be above ${most}` };
  }

  #start(style: Style, text: string, limit: number, list: string): Position | Refused | null {
    const { client } = this.#config;
    const name = client[`${style}_name`];
    if (style === 'before') {
      return text === '' || text.length > maxTokenLength ? { problem: `'${name}' must name an item` } : { token: text };
    }
    if (style === 'cursor') return this.#opened(text, list, name);
    const number = wholeNumber(text);
    const first = style === 'page' ? client.first_page : 0;
    if (number === null || number < first) return { problem: `'${name}' must be a whole number from ${first} on` };
    return { offset: style === 'page' ? (number - first) * limit : number };
  }

  #opened(cursor: string, list: string, name: string): Position | Refused {
    const position = cursor.length > 4 * maxTokenLength ? null : openCursor(this.#secret, list, cursor);
    if (position === null) return { problem: `'${name}' is not a cursor of this API, or it is too old` };
    if (position === 'foreign')
      return { problem: `'${name}' is a cursor of another list: its other arguments must stay` };
    return position;
  }
}

function wholeNumber(text: string): number | null {
  return /^\d{1,10}$/.test(text) ? Number(text) : null;
}

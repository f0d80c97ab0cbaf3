import { boolean, type Infer, integer, record, url } from '../../plugin-sdk/schema.ts';

export const config = record({
  status_code: integer({
    required: true,
    default: 301,
    between: [100, 599],
    description:
      'Status code of the response: 301 or 308 for permanent redirects, 302, 303 or 307 for temporary ones; 307 and 308 keep method and body. One below 200 cannot end a request and is answered with 500.',
  }),
  location: url({
    required: true,
    not_match: /[^\x21-\x7e]/,
    description: 'URL of the redirect, with scheme and host.',
  }),
  keep_incoming_path: boolean({
    default: false,
    description: 'Uses only scheme and host of `location`, with path and query of the request.',
  }),
});

export type RedirectConfig = Infer<typeof config>;

import { hasControl, isPluginsHeader } from '../../plugin-kit/templates/index.ts';
import { array, boolean, headerName, type Infer, integer, map, record, string } from '../../plugin-sdk/schema.ts';
import { leaks } from './presets.ts';

function nameProblem(name: string): string | null {
  return isPluginsHeader(name) ? null : `'${name}' is not a header that can be set`;
}

function valueProblem(value: string): string | null {
  return hasControl(value) ? 'must not have control characters' : null;
}

export const config = record({
  preset: string({
    required: true,
    default: 'api',
    one_of: ['strict', 'api', 'none'],
    description:
      'Set of headers. `strict`: for pages that load everything from their own origin. `api`: for responses that are not pages; no cache stores them. `none`: only those of `headers`.',
  }),
  headers: map(string({ custom: nameProblem }), string({ custom: valueProblem }), {
    required: true,
    default: {},
    description: 'Headers to add to the preset, or to override in it.',
  }),
  omit: array(headerName(), {
    required: true,
    default: [],
    description: 'Headers of the preset that are not set.',
  }),
  when: string({
    required: true,
    default: 'absent',
    one_of: ['absent', 'always'],
    description: '`absent`: a header of the backend stays. `always`: it is replaced.',
  }),
  hsts: record(
    {
      enabled: boolean({
        required: true,
        default: true,
        description: 'Sets `Strict-Transport-Security` on responses to HTTPS requests, with every preset.',
      }),
      max_age: integer({
        required: true,
        default: 31_536_000,
        between: [0, 315_360_000],
        unit: 's',
        description: 'Time that browsers use only HTTPS. 0: they end it at once.',
      }),
      include_subdomains: boolean({ required: true, default: true, description: 'Includes subdomains.' }),
      preload: boolean({
        required: true,
        default: false,
        description: 'Allows browsers to preload the host as HTTPS-only. Removal from their lists is difficult.',
      }),
    },
    { description: 'HTTP Strict Transport Security (RFC 6797).' },
  ),
  remove: array(headerName(), {
    required: true,
    default: leaks,
    description: 'Headers to remove from responses of backends, before others are set.',
  }),
});

export type ResponseHeadersConfig = Infer<typeof config>;

import { hasControl, isPluginsHeader } from '../../plugin-sdk/index.ts';
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
      'Headers to begin with. `strict`: for pages that load everything from their own origin. `api`: for answers that are no pages; ' +
      'nothing keeps them. `none`: only those of `headers`.',
  }),
  headers: map(string({ custom: nameProblem }), string({ custom: valueProblem }), {
    required: true,
    default: {},
    description: 'Names and values in the place of, or beside, those of the preset.',
  }),
  omit: array(headerName(), {
    required: true,
    default: [],
    description: 'Names of headers of the preset that are not set.',
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
        description: 'Sets `Strict-Transport-Security` on answers to HTTPS requests, with every preset.',
      }),
      max_age: integer({
        required: true,
        default: 31_536_000,
        between: [0, 315_360_000],
        unit: 's',
        description: 'How long browsers use HTTPS only. 0: they forget it at once.',
      }),
      include_subdomains: boolean({ required: true, default: true, description: 'Subdomains, too.' }),
      preload: boolean({
        required: true,
        default: false,
        description: 'Asks for a place on the lists that browsers come with. It is hard to get off them.',
      }),
    },
    { description: 'HTTP Strict Transport Security (RFC 6797).' },
  ),
  remove: array(headerName(), {
    required: true,
    default: leaks,
    description: "Headers that are taken out of backends' answers, before others are set.",
  }),
});

export type ResponseHeadersConfig = Infer<typeof config>;

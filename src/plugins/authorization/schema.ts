import { array, boolean, httpMethod, type Infer, ipOrCidr, map, record, set, string } from '../../plugin-sdk/schema.ts';
import { pathProblem } from './paths.ts';

// An empty list would match nobody or everybody, depending on who reads it.
const notEmpty = { len_min: 1 } as const;

const rule = record({
  name: string({ required: true, description: 'Name of the rule, as the logs call it. Unique within the list.' }),
  effect: string({
    required: true,
    default: 'allow',
    one_of: ['allow', 'deny'],
    description: 'What becomes of a request that meets all conditions of the rule.',
  }),
  authenticated: boolean({
    description: 'True: the client has shown a valid credential. False: it has not, or is the anonymous consumer.',
  }),
  consumers: set(string({ description: 'Id or username.' }), {
    ...notEmpty,
    description: 'The consumer is one of these.',
  }),
  custom_ids: set(string({ description: 'A `custom_id`.' }), {
    ...notEmpty,
    description: "The consumer's `custom_id` is one of these.",
  }),
  consumer_tags: set(string({ description: 'A tag.' }), {
    ...notEmpty,
    description: 'The consumer has one of these tags.',
  }),
  groups: set(string({ description: 'Name of a group.' }), {
    ...notEmpty,
    description: 'The client is in one of these groups: of the consumer (`acls`), or named by a token or directory.',
  }),
  scopes: set(string({ description: 'A scope, or several with spaces between them that are needed together.' }), {
    ...notEmpty,
    description: 'The token has one of these scopes.',
  }),
  claims: map(
    string({
      description: 'Name of a claim; with dots, the way into nested ones, unless there is one of that very name.',
    }),
    array(string({ description: 'A value.' }), notEmpty),
    {
      ...notEmpty,
      description: 'Each of these claims has one of its values; of a claim that is a list, one element has.',
    },
  ),
  methods: set(httpMethod({ description: 'An HTTP method in capital letters.' }), {
    ...notEmpty,
    description: 'The method is one of these.',
  }),
  paths: set(string({ custom: pathProblem, description: 'A path, `=` and a path, or `~` and an expression.' }), {
    ...notEmpty,
    description:
      'The path is one of these or lies below it (`/a`), is exactly that (`=/a`), or matches from its beginning (`~/a/[0-9]+`).',
  }),
  addresses: set(ipOrCidr({ description: 'An address, or a range in CIDR notation.' }), {
    ...notEmpty,
    description: "The client's address is one of these.",
  }),
});

export const config = record({
  rules: array(rule, {
    required: true,
    len_min: 1,
    custom: repeatedName,
    description: 'Looked at from the first to the last. The first one whose conditions the request meets decides.',
  }),
  default: string({
    required: true,
    default: 'deny',
    one_of: ['allow', 'deny'],
    description: 'What becomes of a request that meets no rule.',
  }),
  dry_run: boolean({
    required: true,
    default: false,
    description: 'Refuse nothing, only log what would be refused.',
  }),
});

export type AuthorizationConfig = Infer<typeof config>;
export type RuleConfig = Infer<typeof rule>;

function repeatedName(rules: readonly { readonly name: string }[]): string | null {
  const names = rules.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  return repeated === undefined ? null : `two rules are named '${repeated}'`;
}

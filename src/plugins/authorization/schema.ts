import { array, boolean, httpMethod, type Infer, ipOrCidr, map, record, set, string } from '../../plugin-sdk/schema.ts';
import { claimProblem } from './claims.ts';
import { pathProblem } from './paths.ts';

// An empty list is ambiguous: it could mean no client or every client.
const notEmpty = { len_min: 1 } as const;

const rule = record({
  name: string({ required: true, description: 'Name of the rule in the logs. Unique within the list.' }),
  effect: string({
    required: true,
    default: 'allow',
    one_of: ['allow', 'deny'],
    description: 'Effect on requests that meet all conditions of the rule.',
  }),
  authenticated: boolean({
    description: 'True: the client has presented a valid credential. False: it has not, or is the anonymous consumer.',
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
      custom: claimProblem,
      description: 'Name of a claim, or a JSONPath (RFC 9535) to nested ones: `$.realm_access.roles`.',
    }),
    array(string({ description: 'A value.' }), notEmpty),
    {
      ...notEmpty,
      description:
        'Each of these claims has one of its values. For a claim that is a list, one element must match. A claim is a name, or a JSONPath (RFC 9535) into nested claims: `$.realm_access.roles`.',
    },
  ),
  methods: set(httpMethod({ description: 'An HTTP method in capital letters.' }), {
    ...notEmpty,
    description: 'The method is one of these.',
  }),
  paths: set(string({ custom: pathProblem, description: 'A path, `=` and a path, or `~` and an expression.' }), {
    ...notEmpty,
    description:
      'The path is one of these or lies below it (`/a`), is exactly that (`=/a`), or matches the expression from its beginning (`~/a/[0-9]+`).',
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
    description: 'Rules, checked from first to last. The first one whose conditions are all met decides.',
  }),
  default: string({
    required: true,
    default: 'deny',
    one_of: ['allow', 'deny'],
    description: 'Effect on requests that meet no rule.',
  }),
  dry_run: boolean({
    required: true,
    default: false,
    description: 'Rejects nothing and only logs what would be rejected.',
  }),
});

export type AuthorizationConfig = Infer<typeof config>;
export type RuleConfig = Infer<typeof rule>;

function repeatedName(rules: readonly { readonly name: string }[]): string | null {
  const names = rules.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  return repeated === undefined ? null : `two rules are named '${repeated}'`;
}

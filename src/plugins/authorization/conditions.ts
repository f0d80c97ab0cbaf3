import { ipSet } from '../../plugin-kit/net/index.ts';
import type { AccessContext, IdentityDetails } from '../../plugin-sdk/index.ts';
import { claimMatcher } from './claims.ts';
import { pathsMatcher } from './paths.ts';
import type { RuleConfig } from './schema.ts';

/** The input of rules. */
export interface Facts {
  readonly context: AccessContext;
  /** Groups of the consumer and authenticated groups; empty when no rule needs them. */
  readonly groups: readonly string[];
}

export interface Condition {
  /** Name of the field. */
  readonly name: string;
  /** It depends on the client's identity, so authentication could change it. */
  readonly ofIdentity: boolean;
  holds(facts: Facts): boolean;
}

/** The conditions of a rule, those of the request before those of the client. */
export function compileConditions(rule: RuleConfig): readonly Condition[] {
  return [...requestConditions(rule), ...clientConditions(rule)];
}

function requestConditions(rule: RuleConfig): readonly Condition[] {
  const found: Condition[] = [];
  const add = (name: string, holds: Condition['holds']): void => {
    found.push({ name, ofIdentity: false, holds });
  };
  if (rule.methods !== null) {
    const methods = new Set(rule.methods);
    add('methods', ({ context }) => methods.has(context.request.method));
  }
  if (rule.paths !== null) {
    const matches = pathsMatcher(rule.paths, rule.effect === 'deny');
    add('paths', ({ context }) => matches(context.request.path));
  }
  if (rule.addresses !== null) {
    const addresses = ipSet(rule.addresses);
    add('addresses', ({ context }) => addresses.has(context.client.ip));
  }
  return found;
}

function clientConditions(rule: RuleConfig): readonly Condition[] {
  const found: Condition[] = [];
  const add = (name: string, holds: Condition['holds']): void => {
    found.push({ name, ofIdentity: true, holds });
  };
  if (rule.authenticated !== null) {
    const wanted = rule.authenticated;
    add('authenticated', ({ context }) => (context.client.credential !== null) === wanted);
  }
  if (rule.consumers !== null) {
    const consumers = new Set(rule.consumers);
    add('consumers', ({ context: { client } }) => {
      if (client.consumer === null) return false;
      const { id, username } = client.consumer;
      // A UUID matches ids only: a consumer must not match by choosing another consumer's id as its username.
      return consumers.has(id) || (username !== null && !uuid.test(username) && consumers.has(username));
    });
  }
  if (rule.custom_ids !== null) {
    const ids = new Set(rule.custom_ids);
    add('custom_ids', ({ context }) => ids.has(context.client.consumer?.customId ?? ''));
  }
  if (rule.consumer_tags !== null) {
    const tags = new Set(rule.consumer_tags);
    add('consumer_tags', ({ context }) => context.client.consumer?.tags.some((tag) => tags.has(tag)) === true);
  }
  if (rule.groups !== null) {
    const groups = new Set(rule.groups);
    add('groups', (facts) => facts.groups.some((group) => groups.has(group)));
  }
  if (rule.scopes !== null) {
    const wanted = rule.scopes.map(words);
    add('scopes', ({ context }) => {
      const scopes = scopesOf(context.client.details);
      return wanted.some((together) => together.every((scope) => scopes.includes(scope)));
    });
  }
  if (rule.claims !== null) {
    const matchers = Object.entries(rule.claims).map(([name, values]) => claimMatcher(name, values));
    add('claims', ({ context }) => {
      const claims = context.client.details?.claims ?? null;
      return claims !== null && matchers.every((matches) => matches(claims));
    });
  }
  return found;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Those that the authentication names, or else those of the claims `scope` (RFC 9068 2.2.3) and `scp`. */
function scopesOf(details: IdentityDetails | null): readonly string[] {
  if (details === null) return [];
  if (details.scopes !== null) return details.scopes;
  const claim = details.claims?.['scope'] ?? details.claims?.['scp'];
  if (typeof claim === 'string') return words(claim);
  return Array.isArray(claim) ? claim.filter((scope) => typeof scope === 'string') : [];
}

function words(text: string): readonly string[] {
  return text.split(' ').filter((word) => word !== '');
}

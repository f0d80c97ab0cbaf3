import { type Refusal, refusal, refusals } from './responses.ts';
import { hasControls, scopeList } from './rows.ts';
import type { OAuth2Config } from './schema.ts';

/** The granted scopes, separated by spaces; null: none. */
export type ScopeOutcome = { readonly scope: string | null } | Refusal;

export function requestedScope(config: OAuth2Config, requested: string | null): ScopeOutcome {
  if (requested === null) return config.mandatory_scope ? refusals.noScope : { scope: null };
  if (config.scopes === null) return { scope: null };
  return subset(config.scopes, requested) ?? (config.mandatory_scope ? refusals.noScope : { scope: null });
}

/** A refresh must not request more than was granted (RFC 6749 6). */
export function narrowedScope(granted: string | null, requested: string | null): ScopeOutcome {
  if (requested === null) return { scope: granted };
  const allowed = scopeList(granted);
  const wanted = scopeList(requested);
  if (wanted.some((word) => !allowed.includes(word))) return refusals.scopeMismatch;
  return { scope: wanted.length === 0 ? granted : wanted.join(' ') };
}

function subset(allowed: readonly string[], requested: string): ScopeOutcome | null {
  const wanted = scopeList(requested);
  const unknown = wanted.find((word) => !allowed.includes(word));
  if (unknown !== undefined)
    return refusal('invalid_scope', `"${hasControls(unknown) ? '' : unknown}" is an invalid scope`);
  return wanted.length === 0 ? null : { scope: [...new Set(wanted)].join(' ') };
}

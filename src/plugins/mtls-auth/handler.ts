import { authAccess } from '../../plugin-kit/auth/index.ts';
import { type AccessContext, type PluginPhases, type PluginTools, type Reply, refuse } from '../../plugin-sdk/index.ts';
import { ConsumerLookup, type Owner } from './consumer-lookup.ts';
import type { MtlsAuthConfig } from './schema.ts';
import { type Accepted, type Verdict, Verification } from './verification.ts';

type Outcome = Reply | undefined;

const noCertificate = refuse(401, 'No required TLS certificate was sent');
const failed = refuse(401, 'TLS certificate failed verification');

/** Authenticates consumers by their TLS client certificates. */
export function authenticateByCertificate(config: MtlsAuthConfig, tools: PluginTools): PluginPhases {
  const verification = new Verification(config, tools);
  const lookup = new ConsumerLookup(config, tools);

  function attempt(context: AccessContext): Outcome | Promise<Outcome> {
    const chain = context.connection.clientCertificates;
    if (chain === null) return noCertificate;
    const verdict = verification.verdictOn(chain);
    return verdict instanceof Promise ? verdict.then((one) => decide(context, one)) : decide(context, verdict);
  }

  function decide(context: AccessContext, { accepted }: Verdict): Outcome | Promise<Outcome> {
    if (accepted === null) return failed;
    if (config.skip_consumer_lookup) return letIn(context, accepted, config.authenticated_group_by ?? 'CN');
    const owner = lookup.ownerOf(accepted);
    return owner instanceof Promise ? owner.then((one) => identify(context, one)) : identify(context, owner);
  }

  const access = authAccess(tools, { anonymous: config.anonymous, attempt });
  return {
    access(context) {
      strip(context);
      return access(context);
    },
    accessSkipped: strip,
  };
}

/** Values of these headers from a client are never trusted. */
function strip({ upstream }: AccessContext): void {
  upstream.removeHeader('X-Client-Cert-Dn');
  upstream.removeHeader('X-Client-Cert-San');
}

function identify(context: AccessContext, owner: Owner | null): Outcome {
  if (owner === null) return failed;
  context.authenticate(owner.consumer, owner.credential);
  return undefined;
}

function letIn(context: AccessContext, { certificate }: Accepted, groupBy: 'CN' | 'DN'): undefined {
  const { subjectText, commonName, alternativeNames } = certificate;
  const group = groupBy === 'CN' ? commonName : subjectText;
  context.authenticate(null, { id: null, identifier: subjectText }, { groups: group === null ? [] : [group] });
  if (subjectText !== '') context.upstream.setHeader('X-Client-Cert-Dn', subjectText);
  if (alternativeNames.length > 0) context.upstream.setHeader('X-Client-Cert-San', listed(alternativeNames));
}

/** A comma within a name, which a URI may contain, must not split it. */
function listed(names: readonly string[]): string {
  return names.map((name) => name.replaceAll(',', '%2C')).join(',');
}

import type { AccessContext, EntityRow, PluginPhases, PluginTools, Reply } from '../../plugin-sdk/index.ts';
import { refuse } from '../../plugin-sdk/index.ts';
import { compileRules, type Decision } from './rules.ts';
import type { AuthorizationConfig } from './schema.ts';

export function authorize(config: AuthorizationConfig, tools: PluginTools): PluginPhases {
  const rules = compileRules(config);
  const dryRun = config.dry_run;

  function decide(context: AccessContext, groups: readonly string[]): Reply | undefined {
    const decision = rules.decide({ context, groups });
    // The client learns nothing of this.
    context.log('authorization', logFields(decision));
    if (decision.effect === 'allow') return undefined;
    tools.log.info(dryRun ? 'request would be refused' : 'request refused', {
      request_id: context.request.id,
      ...logFields(decision),
    });
    return dryRun ? undefined : refusal(context, decision);
  }

  return {
    access(context: AccessContext): Reply | undefined | Promise<Reply | undefined> {
      if (!rules.needGroups) return decide(context, none);
      const { consumer, details } = context.client;
      const authenticated = details?.groups ?? none;
      if (consumer === null) return decide(context, authenticated);
      const rows = tools.entities.list('acls', 'consumer', consumer.id);
      return rows instanceof Promise
        ? rows.then((found) => decide(context, [...groupNames(found), ...authenticated]))
        : decide(context, authenticated.length === 0 ? groupNames(rows) : [...groupNames(rows), ...authenticated]);
    },
  };
}

const none: readonly string[] = [];

function logFields({ effect, rule, missed }: Decision): Readonly<Record<string, unknown>> {
  return missed.length === 0 ? { effect, rule } : { effect, rule, missed };
}

/** 401 where showing a credential could help. */
function refusal({ client }: AccessContext, decision: Decision): Reply {
  if (client.credential === null && decision.ofIdentity) return refuse(401, 'Unauthorized');
  return refuse(403, 'You cannot consume this service');
}

const namesOf = new WeakMap<readonly EntityRow[], readonly string[]>();

function groupNames(rows: readonly EntityRow[]): readonly string[] {
  let names = namesOf.get(rows);
  if (names === undefined) {
    names = rows.map((row) => row['group']).filter((group) => typeof group === 'string');
    namesOf.set(rows, names);
  }
  return names;
}

import type { AccessContext, EntityRow, PluginPhases, PluginTools, Reply } from '../../plugin-sdk/index.ts';
import { refuse } from '../../plugin-sdk/index.ts';
import { groupNames, groupsHeader } from './groups.ts';
import type { AclConfig } from './schema.ts';

export function checkGroups(config: AclConfig, tools: PluginTools): PluginPhases {
  const allowing = config.allow !== null && config.allow.length > 0;
  const listed = new Set(allowing ? config.allow : config.deny);
  const alwaysAuthenticated = config.always_use_authenticated_groups;
  const showGroups = !config.hide_groups_header;

  function decide(context: AccessContext, groups: readonly string[], header: string): Reply | undefined {
    if (groups.some((group) => listed.has(group)) !== allowing) return forbidden();
    if (!showGroups) return undefined;
    const value = groupsHeader(groups);
    if (value !== '') context.upstream.setHeader(header, value);
    return undefined;
  }

  function decideForConsumer(context: AccessContext, rows: readonly EntityRow[]): Reply | undefined {
    const groups = groupNames(rows);
    // The anonymous consumer is not an identity: the client must present a credential.
    if (allowing && groups.length === 0 && context.client.credential === null) return unauthorized();
    return decide(context, groups, 'X-Consumer-Groups');
  }

  return {
    access(context: AccessContext): Reply | undefined | Promise<Reply | undefined> {
      const { consumer, credential, details } = context.client;
      const authenticated = details?.groups ?? null;
      if (authenticated !== null && (consumer === null || alwaysAuthenticated)) {
        return decide(context, authenticated, 'X-Authenticated-Groups');
      }
      if (consumer === null) return credential === null ? unauthorized() : forbidden();
      const rows = tools.entities.list('acls', 'consumer', consumer.id);
      return rows instanceof Promise
        ? rows.then((found) => decideForConsumer(context, found))
        : decideForConsumer(context, rows);
    },
  };
}

function forbidden(): Reply {
  return refuse(403, 'You cannot consume this service');
}

function unauthorized(): Reply {
  return refuse(401, 'Unauthorized');
}

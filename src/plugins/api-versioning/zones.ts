import { labelledCountsZone } from '../../plugin-kit/shared-memory/index.ts';
import type { ZoneRequest } from '../../plugin-sdk/index.ts';
import type { ApiVersioningConfig } from './schema.ts';

/** Requests by version and consumer of one instance; null: they are not counted. Labels: version, id of the consumer or ''. */
export function usageZone({ usage_entries: entries }: ApiVersioningConfig, instanceId: string): ZoneRequest | null {
  return entries === 0 ? null : labelledCountsZone(`usage ${instanceId}`, entries);
}

export function zones(config: ApiVersioningConfig, instanceId: string): readonly ZoneRequest[] {
  const usage = usageZone(config, instanceId);
  return usage === null ? [] : [usage];
}

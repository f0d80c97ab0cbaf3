import type { PluginNeeds } from '../../plugin-sdk/index.ts';
import type { RuleConfig } from './rules/rule-schema.ts';
import type { DataMaskingConfig } from './schema.ts';

/** Requests the bodies of the directions in which a rule masks bodies. */
export function bodyNeeds(config: DataMaskingConfig): PluginNeeds {
  const reads = (direction: 'request' | 'response') =>
    config.rules.some((rule) => (rule.direction === 'both' || rule.direction === direction) && readsBodies(rule));
  return {
    ...(reads('request') ? { requestBody: { maxBytes: config.max_request_body } } : {}),
    ...(reads('response') ? { responseBody: { mode: 'buffer', maxBytes: config.max_response_body } } : {}),
  };
}

function readsBodies(rule: RuleConfig): boolean {
  const filled = (list: readonly string[] | null) => list !== null && list.length > 0;
  if (filled(rule.json_paths) || filled(rule.xml_paths) || filled(rule.form_fields)) return true;
  if (!filled(rule.kinds) && !filled(rule.patterns)) return false;
  return rule.in === null ? !filled(rule.query_arguments) && !filled(rule.headers) : rule.in.includes('body');
}

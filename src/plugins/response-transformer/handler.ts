import { TransformValues } from '../../plugin-kit/templates/index.ts';
import type { AccessContext, HeaderFilterContext, PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';
import { headerChange } from './header-rules.ts';
import { changesJson, concerns, jsonChange } from './json-rules.ts';
import type { ResponseTransformerConfig } from './schema.ts';
import { statusMatcher } from './statuses.ts';

export function transformResponse(config: ResponseTransformerConfig, { log }: PluginTools): PluginPhases {
  const isMeant = statusMatcher(config.if_status);
  const changeHeaders = headerChange(config, new TransformValues('answer'), log);
  const phases: PluginPhases = {};
  if (changeHeaders !== null) {
    phases.headerFilter = (context: HeaderFilterContext) => {
      if (isMeant(context.response.status)) changeHeaders(context);
    };
  }
  if (!changesJson(config)) return phases;
  phases.access = requestOneRange;
  phases.shouldBufferResponse = (context) => isMeant(context.response.status) && concerns(context);
  phases.response = jsonChange(config, new TransformValues('answer'), log);
  return phases;
}

/** Several ranges come as parts of a multipart body, which cannot be transformed. Without the field the response is complete. */
function requestOneRange({ request, upstream }: AccessContext): undefined {
  if (request.header('range')?.includes(',') === true) upstream.removeHeader('Range');
}

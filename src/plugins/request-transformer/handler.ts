import { resolved, TransformValues, unsafePath } from '../../plugin-kit/templates/index.ts';
import { type AccessContext, type PluginPhases, type PluginTools, type Reply, refuse } from '../../plugin-sdk/index.ts';
import { argumentChange } from './arguments.ts';
import { bodyChange, bodyType } from './body-change.ts';
import { headerChange } from './header-rules.ts';
import type { RequestTransformerConfig } from './schema.ts';

export function transformRequest(config: RequestTransformerConfig, { log }: PluginTools): PluginPhases {
  const values = new TransformValues();
  const changeHeaders = headerChange(config, values, log);
  const changeQuery = argumentChange(queryRules(config), values);
  const body = bodyChange(config, values);
  const uri = config.replace.uri === null ? null : values.source(config.replace.uri, 'path');
  const method = config.http_method;
  return {
    access(context: AccessContext): undefined | Reply | Promise<undefined | Reply> {
      const { upstream } = context;
      const rendered = values.render(context);
      const refusal = changeHeaders?.(context, rendered);
      if (refusal !== undefined) return refusal;
      if (changeQuery !== null) {
        const query = upstream.query();
        const changed = changeQuery(query, rendered);
        if (changed !== query) upstream.setQuery(changed);
      }
      if (uri !== null) {
        const path = pathFrom(resolved(uri, rendered));
        if (path === null) return refuse(400, 'The path that this request gives for the backend is not a safe one');
        upstream.setPath(path);
      }
      if (method !== null) upstream.setMethod(method);
      if (body === null) return undefined;
      const type = bodyType(context);
      return type !== null && body.concerns(type) ? body.apply(context, type, rendered) : undefined;
    },
  };
}

/** Null for a path that the backend could interpret as another one. */
function pathFrom(text: string): string | null {
  const path = text.startsWith('/') ? text : `/${text}`;
  return unsafePath(path) ? null : path;
}

function queryRules({ remove, rename, replace, add, append }: RequestTransformerConfig) {
  return {
    remove: remove.querystring,
    rename: rename.querystring,
    replace: replace.querystring,
    add: add.querystring,
    append: append.querystring,
  };
}

import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { stringify } from 'yaml';
import { bundledPlugins } from '../../plugins/registry.ts';
import type { AdminApi } from '../admin-api/admin-api.ts';
import { AdminClient } from '../admin-api/admin-client.ts';
import { findAdmin } from '../admin-api/find-admin.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { AdminTarget } from '../config/admin-target.ts';
import { loadEntities } from '../config/load-entities.ts';
import { applyDocument } from '../import/kong/apply-document.ts';
import { convertKong } from '../import/kong/convert/convert-kong.ts';
import { withoutSecrets } from '../import/kong/convert/find-problems.ts';
import { type KongDocument, kongDocument } from '../import/kong/convert/kong-document.ts';
import { WithoutList } from '../import/kong/convert/without-list.ts';
import { differencesOf } from '../import/kong/differences/differences-of.ts';
import type { Fields, KongSource } from '../import/kong/kong-entity.ts';
import {
  type ChangeCounts,
  countsOf,
  type ImportReport,
  unaccepted,
  type WrittenTo,
} from '../import/kong/report/import-report.ts';
import { acceptAll, printReport } from '../import/kong/report/print-report.ts';
import { readHeaders } from '../import/kong/source/header-options.ts';
import { KongClient } from '../import/kong/source/kong-client.ts';
import { readKongFiles } from '../import/kong/source/read-files.ts';
import { readKong } from '../import/kong/source/read-kong.ts';
import { sourceLimits } from '../import/kong/source/source-limits.ts';

/**
 * `import kong`: takes over the config of a running Kong, or of dumps of it. Resolves to 0 when everything was carried over, to 2 when
 * something was left out. When that was not accepted, nothing is written, and the command ends with 1.
 */
export async function importKong(context: CommandContext): Promise<number> {
  const { options, lists } = context.arguments;
  const writes = options['dry-run'] !== true;
  const file = typeof options['output'] === 'string' ? options['output'] : null;
  // Found first, so that a node that does not run is reported before a long read. A dry run needs none, but can use one.
  const needsNode = writes ? file === null : typeof options['admin'] === 'string';
  const admin = needsNode ? findAdmin(context) : null;
  const plugins = admin === null ? new Set(bundledPlugins.keys()) : await pluginsOf(admin);
  const { source, title } = await readSource(context);
  const registry = await loadEntities(
    { plugins: ['bundled'], pluginFolder: null, pluginPins: new Map(), untrustedFunctions: 'off' },
    context.cwd,
  );
  const without = new WithoutList(lists['without'] ?? []);
  const { entities, leftOut } = await convertKong(source, { entities: registry, plugins, without });
  for (const name of without.unused()) context.err(`Warning: --without ${name}: nothing has that name`);
  const report: ImportReport = {
    source: title,
    carriedOver: countsOf(entities),
    written: null,
    differences: differencesOf(entities),
    leftOut,
  };
  const open = unaccepted(report);
  if (!writes || open.length > 0) {
    show(context, report);
    if (writes) throw new CliError(`nothing was written: accept what would be lost with ${acceptAll(open)}`);
    return leftOut.length > 0 ? 2 : 0;
  }
  const document = kongDocument(source.format, entities);
  const written =
    admin === null
      ? writeFile(resolve(context.cwd, file ?? ''), file ?? '', document.content)
      : { to: admin.address, changes: await write(admin, document) };
  show(context, { ...report, written });
  return leftOut.length > 0 ? 2 : 0;

  function write(api: AdminApi, whole: KongDocument): Promise<ChangeCounts> {
    return applyDocument(new AdminTarget(api), whole, {
      mode: options['replace'] === true ? 'replace' : 'merge',
      withoutSecrets: (text, entity) => withoutSecrets(text, entity, registry),
    });
  }
}

async function readSource(context: CommandContext): Promise<{ readonly source: KongSource; readonly title: string }> {
  const { options, lists, positionals } = context.arguments;
  const files = positionals.slice(1);
  const url = options['admin-url'];
  if (typeof url === 'string' && files.length > 0) throw new CliError('give files or --admin-url, not both');
  if (typeof url === 'string') {
    const headers = readHeaders(lists['header'] ?? [], context.cwd);
    const client = new KongClient({ url, headers, insecure: options['insecure'] === true, limits: sourceLimits });
    const source = await readKong(client, sourceLimits.maxEntities);
    return { source, title: `Kong ${source.version} at ${client.address}` };
  }
  if (files.length === 0) {
    throw new CliError('usage: sluicegate import kong --admin-url <url of the Admin API of Kong>, or with files');
  }
  return { source: readKongFiles(files, context.cwd), title: files.join(', ') };
}

/** A gateway need not have all bundled plugins, and may have others. */
async function pluginsOf(api: AdminApi): Promise<ReadonlySet<string>> {
  const node = await new AdminClient(api).find('/');
  const plugins = node?.['plugins'];
  const available = plugins !== null && typeof plugins === 'object' && 'available_on_server' in plugins;
  const names = available ? plugins['available_on_server'] : null;
  if (typeof names !== 'object' || names === null)
    throw new CliError('the Admin API does not say which plugins it has');
  return new Set(Object.keys(names));
}

function writeFile(path: string, shown: string, content: Fields): WrittenTo {
  try {
    const json = path.endsWith('.json');
    const text = json ? `${JSON.stringify(content, null, 2)}\n` : stringify(content, { lineWidth: 0 });
    // It contains keys and passwords.
    writeFileSync(path, text, { mode: 0o600 });
  } catch (error) {
    throw new CliError(`cannot write ${shown}: ${error instanceof Error ? error.message : error}`);
  }
  return { to: shown, changes: null };
}

function show(context: CommandContext, report: ImportReport): void {
  if (context.arguments.options['json'] === true) context.out(JSON.stringify(report, null, 2));
  else printReport(report, context.out);
}

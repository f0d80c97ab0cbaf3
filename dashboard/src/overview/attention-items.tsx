import type { ReactNode } from 'react';
import { relativeText } from '../components/relative-time.tsx';
import { countText } from './numbers.ts';
import type { Certificate, Circuit, FailingTarget, LogProblem, Overview, OverviewState } from './overview-data.ts';
import { EntityLink, TrafficLink } from './traffic-link.tsx';

/** `note`: worth knowing, and nobody has to act. */
export type Level = 'danger' | 'warn' | 'note';

export interface AttentionItem {
  readonly key: string;
  readonly level: Level;
  readonly kind: string;
  readonly subject: ReactNode;
  readonly detail: ReactNode;
  /** Seconds since the epoch; null: not known. */
  readonly since: number | null;
}

const order: readonly Level[] = ['danger', 'warn', 'note'];
/** Seconds for which a line of the log counts. */
const logTime = 3_600;
/** Share of the file descriptors from which on there are few left. */
const manyDescriptors = 0.9;

/** What needs attention, the worst first. `overview`: for what the events do not have. */
export function attentionItems(
  state: OverviewState,
  overview: Overview | undefined,
  shed: number,
): readonly AttentionItem[] {
  const items = [
    ...nodeItems(state, overview),
    ...(shed === 0 ? [] : [shedItem(shed)]),
    ...(state.failing_targets?.data ?? []).map(targetItem),
    ...(state.circuits?.data ?? []).map(circuitItem),
    ...configItems(state),
    ...(state.certificates?.data ?? []).map(certificateItem),
    ...logItems(state, overview?.time ?? Date.now() / 1000),
  ];
  return items.sort((a, b) => order.indexOf(a.level) - order.indexOf(b.level));
}

/** Items that the lists of the gateway leave out. */
export function unlisted(state: OverviewState): number {
  const { failing_targets, circuits, certificates, config } = state;
  const lists = [failing_targets, circuits, certificates, config?.failures];
  return lists.reduce(
    (sum, list) => sum + (list === null || list === undefined ? 0 : list.total - list.data.length),
    0,
  );
}

function nodeItems({ nodes, workers, database }: OverviewState, overview: Overview | undefined): AttentionItem[] {
  const items: AttentionItem[] = [];
  const add = (key: string, level: Level, kind: string, subject: ReactNode, detail: ReactNode): void => {
    items.push({ key, level, kind, subject, detail, since: null });
  };
  if (database?.reachable === false) {
    const effect = 'Requests are carried on with the last config. Changes are refused.';
    add('database', 'danger', 'Database', `${database.kind} cannot be reached`, effect);
  }
  if (overview?.node.ready === false) {
    add('ready', 'danger', 'Node', 'This node is not ready', overview.node.not_ready_reason ?? '');
  }
  for (const { id, hostname, state, not_ready_reason: reason } of nodes?.data ?? []) {
    if (state === 'ready' || id === overview?.node.id) continue;
    add(
      `node ${id}`,
      'danger',
      'Node',
      hostname,
      state === 'silent' ? 'No report for some time' : (reason ?? 'Not ready'),
    );
  }
  if (workers !== null && workers.listening < workers.wanted) {
    const states = workers.data.filter(({ state }) => state !== 'listening').map(({ state }) => state);
    const text = `${workers.listening} of ${workers.wanted} listen`;
    add('workers', 'danger', 'Workers', text, states.length === 0 ? '' : `The others: ${states.join(', ')}`);
  }
  if (overview !== undefined) {
    const { open, limit, exhaustions } = overview.descriptors;
    if (exhaustions > 0 || open > limit * manyDescriptors) {
      const detail = exhaustions === 0 ? '' : `There was none left ${countText(exhaustions)} times since the start`;
      add('descriptors', 'warn', 'File descriptors', `${countText(open)} of ${countText(limit)} are open`, detail);
    }
  }
  return items;
}

function shedItem(shed: number): AttentionItem {
  return {
    ...{ key: 'shed', level: 'danger', kind: 'Overload', since: null },
    subject: <TrafficLink search={{ status: '503' }}>{countText(shed)} requests refused</TrafficLink>,
    detail: 'In the last minute the node was too busy to accept them',
  };
}

function targetItem({ upstream, target, address, reason, since }: FailingTarget): AttentionItem {
  return {
    ...{ key: `target ${target.id} ${address}`, level: 'danger', kind: 'Target', since },
    subject: (
      <>
        <EntityLink entity="targets" id={target.id} parent={{ entity: 'upstreams', id: upstream.id }}>
          {target.target}
        </EntityLink>{' '}
        of{' '}
        <EntityLink entity="upstreams" id={upstream.id}>
          {upstream.name}
        </EntityLink>
      </>
    ),
    detail: [address === null || address === target.target ? null : address, reason ?? 'gets no requests']
      .filter((part) => part !== null)
      .join(': '),
  };
}

function circuitItem({ plugin, name, state, since, service, upstream, target }: Circuit): AttentionItem {
  const open = state === 'open';
  return {
    ...{ key: `circuit ${plugin.id} ${name}`, level: open ? 'danger' : 'warn', kind: 'Circuit', since },
    subject: (
      <>
        {target !== null && upstream !== null ? (
          <EntityLink entity="targets" id={target.id} parent={{ entity: 'upstreams', id: upstream.id }}>
            {target.target}
          </EntityLink>
        ) : service === null ? (
          name
        ) : (
          <EntityLink entity="services" id={service.id}>
            {name}
          </EntityLink>
        )}{' '}
        is {state.replaceAll('_', ' ')}
      </>
    ),
    detail:
      plugin.id === null ? (
        plugin.name
      ) : (
        <>
          by{' '}
          <EntityLink entity="plugins" id={plugin.id}>
            {plugin.name}
          </EntityLink>
        </>
      ),
  };
}

function configItems({ config }: OverviewState): readonly AttentionItem[] {
  return (config?.failures.data ?? []).map(({ entity, id, reason }) => ({
    ...{ key: `config ${entity} ${id}`, level: 'danger', kind: 'Config', since: null, detail: reason },
    subject: (
      <>
        <EntityLink entity={entity} id={id}>
          {entity} {id.slice(0, 8)}
        </EntityLink>{' '}
        cannot be used
      </>
    ),
  }));
}

function certificateItem(certificate: Certificate): AttentionItem {
  const { certificate: own, ca_certificate: authority, setting, names, expires_at: expires, expired } = certificate;
  const renewed = certificate.managed_by !== null;
  const text = names.join(', ');
  return {
    key: `certificate ${own?.id ?? authority?.id ?? setting} ${text}`,
    level: expired ? 'danger' : renewed ? 'note' : 'warn',
    kind: authority === null ? 'Certificate' : 'CA certificate',
    subject:
      own !== null ? (
        <EntityLink entity="certificates" id={own.id}>
          {text}
        </EntityLink>
      ) : authority !== null ? (
        <EntityLink entity="ca_certificates" id={authority.id}>
          {text}
        </EntityLink>
      ) : (
        <>
          {text} <code>{setting}</code>
        </>
      ),
    detail: (
      <>
        {expired ? 'has expired ' : 'expires '}
        <Deadline seconds={expires} />
        {renewed && `, renewed by ${certificate.managed_by}`}
      </>
    ),
    since: null,
  };
}

const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** A moment that may lie ahead: `in 20 days`. */
function Deadline({ seconds }: { readonly seconds: number }) {
  const date = new Date(seconds * 1000);
  return (
    <time dateTime={date.toISOString()} title={absolute.format(date)}>
      {relativeText(seconds - Date.now() / 1000)}
    </time>
  );
}

/** Fields that name an entity, and its collection. */
const entityFields = [
  ['route', 'routes'],
  ['service', 'services'],
  ['upstream', 'upstreams'],
  ['certificate', 'certificates'],
  ['instance', 'plugins'],
] as const;

function logItems({ log }: OverviewState, now: number): readonly AttentionItem[] {
  const recent = (log?.data ?? []).filter(({ last }) => last > now - logTime);
  return recent.map((problem) => ({
    key: `log ${problem.level} ${problem.message}`,
    level: problem.level === 'warn' ? 'warn' : 'danger',
    kind: 'Log',
    subject: (
      <>
        {problem.message}
        {problem.count > 1 && <span className="badge">{countText(problem.count)} times</span>}
      </>
    ),
    detail: <LogFields fields={problem.fields} />,
    since: problem.last,
  }));
}

function LogFields({ fields }: Pick<LogProblem, 'fields'>) {
  const texts = ['reason', 'error', 'hint', 'address', 'plugin', 'host', 'listener'].flatMap((name) =>
    fields[name] === undefined ? [] : [String(fields[name])],
  );
  return (
    <>
      {texts.filter((text, at) => !texts.slice(0, at).some((before) => before.includes(text))).join(', ')}{' '}
      {entityFields.map(([field, entity]) => {
        const value = fields[field];
        if (typeof value !== 'string' || value === '') return null;
        return (
          <span key={field}>
            <EntityLink entity={entity} id={value}>
              {field} {value.length === 36 ? value.slice(0, 8) : value}
            </EntityLink>{' '}
          </span>
        );
      })}
    </>
  );
}

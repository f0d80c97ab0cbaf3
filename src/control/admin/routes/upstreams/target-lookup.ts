import type { Row } from '../../../../shared/entities/entity.ts';
import { normalTarget } from '../../../../shared/entities/targets.ts';
import type { StoreReader } from '../../../store/store.ts';
import type { AdminContext } from '../../crud/admin-context.ts';
import { segmentOf } from '../../crud/entity-handlers.ts';
import { idOf, needEntity, referenceOf } from '../../crud/find-entity.ts';
import type { AdminRequest } from '../../http/admin-route.ts';
import { notFound } from '../../http/http-error.ts';

export interface FoundTarget {
  readonly upstream: Row;
  readonly target: Row;
}

export async function needUpstream(context: AdminContext, reader: StoreReader, request: AdminRequest): Promise<Row> {
  const upstreams = context.entity('upstreams');
  return needEntity(context, reader, upstreams, segmentOf(request, upstreams));
}

/** The target of the path, by id or by `host:port`, below the upstream of the path. A plain 404 when either is missing. */
export async function needTarget(
  context: AdminContext,
  reader: StoreReader,
  request: AdminRequest,
): Promise<FoundTarget> {
  const targets = context.entity('targets');
  const upstream = await needUpstream(context, reader, request);
  const segment = segmentOf(request, targets);
  const id = idOf(segment);
  const target = await (id === null ? byName(reader, upstream, segment) : reader.get('targets', id));
  if (target === null || referenceOf(target, 'upstream') !== upstream.id) throw notFound();
  return { upstream, target };
}

async function byName(reader: StoreReader, upstream: Row, name: string): Promise<Row | null> {
  const target = normalTarget(name);
  if (target === null) return null;
  const [row] = await reader.list('targets', { where: { upstream: upstream.id, target }, limit: 1 });
  return row ?? null;
}

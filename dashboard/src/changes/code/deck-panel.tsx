import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Collection } from '../../config/collections.ts';
import type { Value } from '../../forms/value.ts';
import { CodeBlock } from './code-tabs.tsx';
import { loadDeckText } from './load-deck.ts';

interface DeckPanelProps {
  readonly all: readonly Collection[];
  readonly collection: Collection;
  /** The entity as it will be; of one that is deleted, as it is. */
  readonly value: Value;
  readonly deleted?: boolean;
}

/** The entity as a file of decK, with everything that it refers to. */
export function DeckPanel({ all, collection, value, deleted = false }: DeckPanelProps) {
  const client = useQueryClient();
  const { data, error } = useQuery({
    queryKey: ['deck-file', collection.info.name, JSON.stringify(value)],
    queryFn: () => loadDeckText(client, all, collection, value),
    gcTime: 0,
    retry: false,
  });
  if (!collection.info.in_config) return <p className="muted">A file of decK cannot contain this.</p>;
  if (error !== null) return <p className="muted">{error.message}</p>;
  if (data === undefined) return <p className="muted">Reading what it refers to…</p>;
  const name = collection.one;
  return (
    <div className="stack">
      <p className="small muted">
        {deleted ? (
          <>
            What a file does not contain, <code>deck gateway sync</code> and <code>sluicegate config apply</code>{' '}
            delete: remove this {name} from your file.
          </>
        ) : (
          <>
            Apply it with <code>sluicegate config apply --merge file.yaml</code> or{' '}
            <code>deck gateway apply file.yaml</code>: nothing else changes.
          </>
        )}
      </p>
      <CodeBlock text={data} label="the file" />
    </div>
  );
}

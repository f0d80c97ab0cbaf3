import { Link } from '@tanstack/react-router';
import { Children, type ReactNode } from 'react';

interface GraphColumnProps {
  readonly title: string;
  /** What stands for nodes when there is none. */
  readonly empty?: string;
  /** There are more nodes than these. */
  readonly more?: boolean;
  readonly children: ReactNode;
}

/** One step of the way. The arrow to the next one is drawn by the style sheet. */
export function GraphColumn({ title, empty, more = false, children }: GraphColumnProps) {
  const isEmpty = Children.count(children) === 0;
  return (
    <li className="graph-column">
      <h3>{title}</h3>
      {isEmpty && empty !== undefined && <p className="graph-node muted small">{empty}</p>}
      {!isEmpty && <ol className="graph-nodes">{children}</ol>}
      {more && <p className="small muted">and more</p>}
    </li>
  );
}

interface GraphNodeProps {
  readonly name: string;
  /** Without it the node is no entity, and no link. */
  readonly entity?: string;
  readonly id?: string;
  readonly place?: { readonly parent: string; readonly parentId: string };
  readonly text?: string;
  readonly badge?: { readonly text: string; readonly kind: string };
  /** The page is about it. */
  readonly isSelf?: boolean;
}

export function GraphNode({ name, entity, id, place, text, badge, isSelf = false }: GraphNodeProps) {
  const content = (
    <>
      <span className="graph-name">{name}</span>
      {text !== undefined && text !== '' && <span className="small muted graph-text">{text}</span>}
      {badge !== undefined && <span className={`badge ${badge.kind}`}>{badge.text}</span>}
    </>
  );
  return (
    <li>
      {entity === undefined || id === undefined || isSelf ? (
        <span className="graph-node" aria-current={isSelf ? 'true' : undefined}>
          {content}
        </span>
      ) : (
        <Link to="/config/$entity/$id" params={{ entity, id }} search={place ?? {}} className="graph-node">
          {content}
        </Link>
      )}
    </li>
  );
}

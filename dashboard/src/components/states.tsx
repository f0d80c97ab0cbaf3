import type { ReactNode } from 'react';
import { ApiError, OfflineError } from '../api/client.ts';

export function LoadingState({ label = 'Loading' }: { readonly label?: string }) {
  return (
    <div className="state" role="status">
      <span className="visually-hidden">{label}</span>
      <div className="skeleton" style={{ width: '12rem' }} />
      <div className="skeleton" style={{ width: '18rem' }} />
      <div className="skeleton" style={{ width: '9rem' }} />
    </div>
  );
}

/** 1 where the state is the whole page; 2 below the title of a page. */
type Level = 1 | 2;

function Title({ level, text }: { readonly level: Level; readonly text: string }) {
  return level === 1 ? <h1>{text}</h1> : <h2>{text}</h2>;
}

interface ErrorStateProps {
  readonly level?: Level;
  readonly error: unknown;
  readonly retry?: () => void;
}

export function ErrorState({ error, retry, level = 1 }: ErrorStateProps) {
  const { title, text } = described(error);
  return (
    <div className="state" role="alert">
      <Title level={level} text={title} />
      <p>{text}</p>
      {retry !== undefined && (
        <button type="button" className="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

function described(error: unknown): { readonly title: string; readonly text: string } {
  if (error instanceof OfflineError) {
    return {
      title: 'The gateway does not answer',
      text: 'It is stopped or restarting, or the network is interrupted.',
    };
  }
  if (error instanceof ApiError) {
    if (error.status === 404) return { title: 'Not found', text: error.message };
    if (error.status === 403) return { title: 'Not permitted', text: error.message };
    if (error.status === 503) return { title: 'Temporarily unavailable', text: error.message };
    return { title: `The Admin API answered with ${error.status}`, text: error.hint ?? error.message };
  }
  return { title: 'The page failed', text: error instanceof Error ? error.message : String(error) };
}

interface EmptyStateProps {
  readonly level?: Level;
  readonly title: string;
  readonly children: ReactNode;
}

export function EmptyState({ title, children, level = 1 }: EmptyStateProps) {
  return (
    <div className="state">
      <Title level={level} text={title} />
      {children}
    </div>
  );
}

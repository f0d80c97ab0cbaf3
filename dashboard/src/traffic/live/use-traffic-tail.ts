import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api/client.ts';
import { type StreamState, useEventStream } from '../../api/event-stream.ts';
import { readTraffic, type TrafficRate, type TrafficRecord } from '../records.ts';
import { TailBuffer } from './tail-buffer.ts';

export interface TrafficTail {
  readonly records: readonly TrafficRecord[];
  /** Records that have arrived and are not shown, because the tail is held. */
  readonly waiting: number;
  /** Null: the recorder has not started yet. */
  readonly rate: TrafficRate | null;
  /** Records that the gateway or the network lost since the page was opened. */
  readonly dropped: number;
  readonly state: StreamState;
  readonly error: Error | null;
  /** The last requests have been read. */
  readonly ready: boolean;
  readonly showWaiting: () => void;
}

/** Requests as they end, after those that are recorded already. `query`: the filters. While `held`, what is shown does not change. */
export function useTrafficTail(query: string, held: boolean): TrafficTail {
  const buffer = useRef(new TailBuffer());
  const frame = useRef(0);
  const heldNow = useRef(held);
  heldNow.current = held;
  const [records, setRecords] = useState<readonly TrafficRecord[]>([]);
  const [waiting, setWaiting] = useState(0);
  const [rate, setRate] = useState<TrafficRate | null>(null);
  const [dropped, setDropped] = useState(0);
  const [ready, setReady] = useState(false);
  const [listError, setListError] = useState<Error | null>(null);
  const starting = useRef(true);
  /** Connections on which the recorder was running. */
  const [connection, setConnection] = useState(0);

  const update = useCallback((now: boolean) => {
    frame.current = 0;
    if (now && buffer.current.show()) setRecords(buffer.current.shown);
    setWaiting(buffer.current.waiting);
  }, []);
  /** Many events lead to one update, before the next frame. */
  const schedule = useCallback(() => {
    if (frame.current === 0) frame.current = requestAnimationFrame(() => update(!heldNow.current));
  }, [update]);

  const { state, error } = useEventStream(`/traffic/live${query === '' ? '' : `?${query}`}`, ({ name, data }) => {
    if (name === 'request') {
      buffer.current.add(data as TrafficRecord);
      schedule();
    } else if (name === 'rate') {
      const next = data as TrafficRate;
      setRate(next);
      if (next.dropped > 0) setDropped((sum) => sum + next.dropped);
      // The first one of a connection says that the workers record.
      if (!starting.current) return;
      starting.current = false;
      setConnection((count) => count + 1);
    } else if (name === 'dropped') {
      const { events } = Object(data) as { readonly events?: unknown };
      if (typeof events === 'number') setDropped((sum) => sum + events);
    } else if (name === 'end') {
      starting.current = true;
    }
  });
  useEffect(() => {
    if (state !== 'live') starting.current = true;
  }, [state]);

  // Declared after the stream, which has ended the connection with the filters of before.
  // biome-ignore lint/correctness/useExhaustiveDependencies: other filters begin with an empty list
  useEffect(() => {
    buffer.current.clear();
    setRecords([]);
    setWaiting(0);
    setReady(false);
    setListError(null);
    starting.current = true;
    return () => cancelAnimationFrame(frame.current);
  }, [query]);

  // What was recorded before the stream was opened, or while it was interrupted.
  // biome-ignore lint/correctness/useExhaustiveDependencies: other filters lead to another connection
  useEffect(() => {
    if (connection === 0) return;
    const stop = new AbortController();
    readTraffic(query, stop.signal).then(
      ({ data }) => {
        buffer.current.addAll(data);
        setReady(true);
        setListError(null);
        schedule();
      },
      (failure: unknown) => {
        if (!stop.signal.aborted) setListError(failure instanceof Error ? failure : new Error(String(failure)));
      },
    );
    return () => stop.abort();
  }, [connection, schedule]);

  useEffect(() => {
    if (!held) update(true);
  }, [held, update]);

  const showWaiting = useCallback(() => update(true), [update]);
  const refused = listError instanceof ApiError && listError.status < 500;
  return {
    ...{ records, waiting, rate, dropped, ready, showWaiting },
    state: refused ? 'refused' : state,
    error: error ?? (refused ? listError : null),
  };
}
